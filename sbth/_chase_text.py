"""Text of the GPU kernels: one task, written out for a tile of a fixed size.

A block of threads holds both blocks of a pair in registers: thread t has row t mod TILE of either,
`columns` columns from (t / TILE) columns on. Registers cannot be indexed, hence the text. What
crosses rows goes through shared memory, with five barriers a task:

    1. A's lower triangle and B, to read A's upper triangle and B's columns
    2. partial sums of x = A v and y = B v
    3. w, y and the next reflection, which each warp works out for itself by shuffles
    4. partial sums of z = B^T v', v' the next reflection
    5. all is stored

Names in the text: a<j>, b<j> the thread's elements; m columns, `rows` of B; V, W, Y, N (v, w, y,
v'), PX, PY, PZ (partial sums) and B are places in shared memory; A is at 0.
"""

from __future__ import annotations

WARP = 32


def tile_of(d: int) -> tuple[int, int]:
    """Rows of the smallest tile for bandwidth d, and columns a thread has."""
    tile = max(16, 1 << (d - 1).bit_length())
    return tile, 16 if tile == 64 else 8


def threads_of(tile: int, columns: int) -> int:
    return tile * tile // columns


def places(tile: int, columns: int) -> tuple[dict[str, int], int]:
    """Where things are in shared memory, and how many numbers it has."""
    found, end = {"B": tile * (tile + 1)}, 2 * tile * (tile + 1)
    for name in "VWYN":
        found[name], end = end, end + tile
    for name in ("PX", "PY", "PZ"):
        found[name], end = end, end + threads_of(tile, columns)
    return found, end


class Task:
    """Statements of a task, for every thread of the block.

    All indices are unsigned, U(...): a signed one might count from the end, and what tells whether
    it does would fill the registers.
    """

    def __init__(self, tile: int, columns: int):
        self.tile, self.columns, self.pad = tile, columns, tile + 1
        self.groups = tile // columns
        self.own_rows = range(max(1, tile // WARP))  # of those a lane of each warp looks after
        self.places = places(tile, columns)[0]
        self.lines = [
            "width, step, below = U(m), U(ld - 1), r < U(rows)",
            "base = (U(c0) + j0) * U(ld) + r - j0",
        ]
        self._load()
        self._multiply()
        self._reflect()
        self._update()

    def add(self, *lines: str) -> None:
        self.lines += lines

    def each(self, *lines: str) -> None:
        """Statements for every column of the thread."""
        for j in range(self.columns):
            self.lines += [self._of_column(line, j) for line in lines]

    def _of_column(self, line: str, j: int) -> str:
        for name, value in (
            ("#column", f"shared[cell + U({j * self.pad})]"),
            ("#below", f"shared[cell + U({self.places['B'] + j * self.pad})]"),
            ("#mirror", f"shared[across + U({j})]"),
            ("#across", f"shared[across + U({self.places['B'] + j})]"),
            ("#j", f"(j0 + U({j}))"),
            ("#p", f"base + U({j}) * step"),
            *((f"#{n}", f"shared[j0 + U({self.places[n] + j})]") for n in "VWN"),
        ):
            line = line.replace(name, value)
        return line.replace("#", str(j))

    def _load(self) -> None:
        self.each(
            "a# = work[#p] if #j < width and r >= #j and r < width else zero",
            "b# = work[#p + width] if #j < width and below else zero",
        )
        self.each("#column = a#", "#below = b#")
        self.add(
            "cuda.syncthreads()",
            "if kept.size > 0 and t < width:",
            "    kept[U(s) * U(n) + U(c0) + t] = shared[U(V) + t] if t > U(0) else tau",
        )
        self.each("a# = a# if r >= #j else #mirror")

    def _chains(self, name: str, term: str) -> None:
        """The sum of a term over the columns, in four chains."""
        for c in range(4):
            terms = (self._of_column(term, j) for j in range(c, self.columns, 4))
            self.add(f"s{c} = {' + '.join(terms)}")
        self.add(f"shared[U({name}) + t] = (s0 + s1) + (s2 + s3)")

    def _multiply(self) -> None:
        self._chains("PX", "a# * #V")
        self._chains("PY", "b# * #V")
        self.add("cuda.syncthreads()")

    def _whole(self, name: str, row: str) -> str:
        """A row's partial sums, added."""
        place = self.places[name]
        parts = (f"shared[U({place + g * self.tile}) + {row}]" for g in range(self.groups))
        return f"({' + '.join(parts)})"

    def _reflect(self) -> None:
        self.add("vx, tail, vy = zero, zero, zero")
        for i in self.own_rows:
            self.add(
                f"row{i} = lane + U({WARP * i})",
                f"v_{i}, x_{i}, y_{i}, h_{i} = zero, zero, zero, zero",
                f"if row{i} < U({self.tile}):",
                f"    v_{i} = shared[U(V) + row{i}]",
                f"    x_{i} = {self._whole('PX', f'row{i}')}",
                f"    y_{i} = tau * {self._whole('PY', f'row{i}')}",
                f"    h_{i} = shared[U(B) + row{i}] - y_{i}",
                f"vx += v_{i} * x_{i}",
                f"tail += h_{i} * h_{i} if row{i} > U(0) else zero",
            )
        self.lines += summed("vx", "tail")
        self.add(
            "beta, tau_next, factor = reflection(cuda.shfl_sync(ALL, h_0, 0), tail)",
            "half = tau * vx * T(0.5)",
        )
        for i in self.own_rows:
            self.add(
                f"n_{i} = h_{i} * factor if row{i} > U(0) else one",
                f"n_{i} = n_{i} if row{i} < U(rows) else zero",
                f"vy += n_{i} * y_{i}",
                f"if t < U({WARP}) and row{i} < U({self.tile}):",
                f"    shared[U(W) + row{i}] = tau * (x_{i} - half * v_{i})",
                f"    shared[U(Y) + row{i}] = y_{i}",
                f"    shared[U(N) + row{i}] = n_{i}",
            )
        self.lines += summed("vy")
        self.add("cuda.syncthreads()")

    def _update(self) -> None:
        # The thread adds up part of column r of B.
        self._chains("PZ", "#across * #N")
        self.add("vr, wr = shared[U(V) + r], shared[U(W) + r]")
        self.each(
            "if #j < width and r >= #j and r < width:",
            "    work[#p] = a# - (vr * #W + wr * #V)",
        )
        self.add("cuda.syncthreads()", "yr, nr = shared[U(Y) + r], shared[U(N) + r]")
        for j in range(self.columns):
            self.add(
                self._of_column("vj = #V", j),
                f"z = tau_next * ({self._whole('PZ', f'(j0 + U({j}))')} - vy * vj)",
                f"b = b{j} - (yr * vj + nr * z)",
            )
            if j == 0:
                self.add("b = b if j0 > U(0) else (beta if r == U(0) else zero)")
            self.add(
                self._of_column("if #j < width and below:", j),
                self._of_column("    work[#p + width] = b", j),
            )
        self.add("cuda.syncthreads()", f"if t < U({self.tile}):")
        self.add("    shared[U(V) + t] = shared[U(N) + t]", "tau = tau_next")


def summed(*names: str) -> list[str]:
    """Sums over the lanes of a warp, side by side."""
    return [
        f"{name} += cuda.shfl_xor_sync(ALL, {name}, {shift})"
        for shift in (16, 8, 4, 2, 1)
        for name in names
    ]


def first(tile: int) -> list[str]:
    """The reflection that eliminates column s; each warp works it out, the first one writes."""
    rows = range(max(1, tile // WARP))
    lines = ["tail, p = zero, U(s) * U(ld) + U(1)"]
    for i in rows:
        lines += [
            f"row{i} = lane + U({WARP * i})",
            f"h_{i} = work[p + row{i}] if row{i} < U(m) else zero",
            f"tail += h_{i} * h_{i} if row{i} > U(0) else zero",
        ]
    lines += summed("tail")
    lines += ["beta, tau, factor = reflection(cuda.shfl_sync(ALL, h_0, 0), tail)"]
    lines += ["cuda.syncthreads()"]  # all warps have read the column
    for i in rows:
        lines += [
            f"if t < U({WARP}) and row{i} < U({tile}):",
            f"    shared[U(V) + row{i}] = h_{i} * factor if row{i} > U(0) else one",
            f"    if row{i} < U(m):",
            f"        work[p + row{i}] = beta if row{i} == U(0) else zero",
        ]
    return lines


_SETUP = """\
shared = cuda.shared.array(0, T)
t = U(cuda.threadIdx.x)
lane, r, j0 = t % U(32), t % U({tile}), t // U({tile}) * U({columns})
cell, across = j0 * U({tile} + 1) + r, r * U({tile} + 1) + j0
zero, one = T(0), T(1)
tau, beta, factor = zero, zero, zero
"""


def _block(lines, depth: int) -> str:
    return "".join(f"{'    ' * depth}{line}\n" for line in lines)


def persistent(tile: int, columns: int) -> str:
    """Blocks take sweeps from a ticket and wait for the sweep before theirs."""
    return (
        "def chase(work, ld, n, d, progress, control, kept):\n"
        + _block(_SETUP.format(tile=tile, columns=columns).splitlines(), 1)
        + """\
    slot = cuda.shared.array(1, int32)
    while True:
        if t == U(0):
            slot[0] = cuda.atomic.add(control, 0, 1)
        cuda.syncthreads()
        s = slot[0]
        cuda.syncthreads()
        if s >= n - 2:
            return
        for k in range(last_task(s, n, d) + 1):
            if t == U(0):
                done = needed(s, k, n, d)
                slot[0] = wait(progress, s - 1, done, control, SPINS) if s > 0 else 0
            cuda.syncthreads()
            if slot[0] != 0:
                return
            c0, m, rows = extents(s, k, n, d)
            if k == 0:
"""
        + _block(first(tile), 4)
        + _block(Task(tile, columns).lines, 3)
        + """\
            if t == U(0):
                release(progress, s, int32(k + 1))
"""
    )


def wavefront(tile: int, columns: int) -> str:
    """One step: a block for every task; reflections are kept in memory between steps."""
    return (
        "def step(work, ld, n, d, number, first_sweep, reflections, taus, kept):\n"
        + _block(_SETUP.format(tile=tile, columns=columns).splitlines(), 1)
        + f"""\
    s = first_sweep + int32(cuda.blockIdx.x)
    k = number - 2 * s
    slot = s % taus.size
    c0, m, rows = extents(s, k, n, d)
    if k == 0:
{_block(first(tile), 2)}\
    else:
        tau = taus[slot]
        if t < U({tile}):
            shared[U(V) + t] = reflections[slot, t]
    cuda.syncthreads()
"""
        + _block(Task(tile, columns).lines, 1)
        + f"""\
    if t < U({tile}):
        reflections[slot, t] = shared[U(V) + t]
    if t == U(0):
        taus[slot] = tau
"""
    )
