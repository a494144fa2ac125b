"""Source of the device functions of bulge chasing, generated for tiles of a fixed size.

A block of threads holds both blocks of a pair in registers: thread t has row t mod TILE of each, in
`columns` columns from column (t / TILE) columns on. Registers cannot be indexed, and so the
statements are written out; the kernels that call these functions are ordinary code
(`chase_kernels`). A task has five barriers, after each of which the threads can read

    1. the lower triangle of A, to complete its upper triangle, and the columns of B
    2. the partial sums of x = A v and y = B v
    3. w, y and the next reflection, which each warp computes for itself by shuffles
    4. the partial sums of z = B^T v', where v' is the next reflection
    5. the results

Names in the source: a<j> and b<j> are the thread's elements; m is the number of columns, and `rows`
the number of rows of B; V, W, Y, N (v, w, y, v'), PX, PY, PZ (partial sums) and B are offsets into
shared memory, where A is at 0.
"""

from __future__ import annotations

from collections.abc import Iterable

WARP = 32
"""Threads of a warp."""

TILES = (16, 32, 64)
"""Rows of the tiles for which kernels exist."""


def choose_tile(d: int) -> tuple[int, int]:
    """Return the rows of the smallest tile for bandwidth d, and the columns of a thread."""
    tile = max(16, 1 << (d - 1).bit_length())
    return tile, 16 if tile == 64 else 8


def thread_count(tile: int, columns: int) -> int:
    """Return the threads of a block."""
    return tile * tile // columns


def shared_layout(tile: int, columns: int) -> tuple[dict[str, int], int]:
    """Return the offsets of arrays in shared memory, and the number of elements it holds."""
    offsets, end = {"B": tile * (tile + 1)}, 2 * tile * (tile + 1)
    for name in "VWYN":
        offsets[name], end = end, end + tile
    for name in ("PX", "PY", "PZ"):
        offsets[name], end = end, end + thread_count(tile, columns)
    return offsets, end


class Task:
    """The statements of a task, for every thread of the block.

    All indices are unsigned, U(...), because the check whether a signed index counts from the end
    would occupy registers.

    Attributes
    ----------
    lines : list of str
    """

    def __init__(self, tile: int, columns: int):
        self.tile, self.columns, self.pad = tile, columns, tile + 1
        self.groups = tile // columns
        self.lane_rows = range(max(1, tile // WARP))  # rows that a lane of each warp processes
        self.offsets = shared_layout(tile, columns)[0]
        self.lines = [
            "t, lane, r, j0, cell, across = thread",
            "s, c0, m, rows = pair",
            "zero, one = T(0), T(1)",
            "width, step, below = U(m), U(ld - 1), r < U(rows)",
            "base = (U(c0) + j0) * U(ld) + r - j0",
        ]
        self._load()
        self._multiply()
        self._reflect()
        self._update()
        self._add("return tau")

    def _add(self, *lines: str) -> None:
        """Append statements."""
        self.lines += lines

    def _add_for_columns(self, *lines: str) -> None:
        """Append statements for every column of the thread."""
        for j in range(self.columns):
            self.lines += [self._for_column(line, j) for line in lines]

    def _for_column(self, line: str, j: int) -> str:
        """Return a statement for column j: `#` and `#name` stand for what depends on it."""
        for name, value in (
            ("#column", f"shared[cell + U({j * self.pad})]"),
            ("#below", f"shared[cell + U({self.offsets['B'] + j * self.pad})]"),
            ("#mirror", f"shared[across + U({j})]"),
            ("#across", f"shared[across + U({self.offsets['B'] + j})]"),
            ("#j", f"(j0 + U({j}))"),
            ("#p", f"base + U({j}) * step"),
            *((f"#{n}", f"shared[j0 + U({self.offsets[n] + j})]") for n in "VWN"),
        ):
            line = line.replace(name, value)
        return line.replace("#", str(j))

    def _load(self) -> None:
        """Load both blocks, and store the reflection if it is requested."""
        self._add_for_columns(
            "a# = work[#p] if #j < width and r >= #j and r < width else zero",
            "b# = work[#p + width] if #j < width and below else zero",
        )
        self._add_for_columns("#column = a#", "#below = b#")
        self._add(
            "cuda.syncthreads()",
            "if reflectors.size > 0 and t < width:",
            "    reflectors[U(s) * U(n) + U(c0) + t] = shared[U(V) + t] if t > U(0) else T(tau)",
        )
        self._add_for_columns("a# = a# if r >= #j else #mirror.conjugate()")

    def _sum_over_columns(self, name: str, term: str) -> None:
        """Append the sum of a term over the thread's columns, in four independent chains."""
        for c in range(4):
            terms = (self._for_column(term, j) for j in range(c, self.columns, 4))
            self._add(f"s{c} = {' + '.join(terms)}")
        self._add(f"shared[U({name}) + t] = (s0 + s1) + (s2 + s3)")

    def _multiply(self) -> None:
        """Compute the partial sums of x = A v and y = B v."""
        self._sum_over_columns("PX", "a# * #V")
        self._sum_over_columns("PY", "b# * #V")
        self._add("cuda.syncthreads()")

    def _row_sum(self, name: str, row: str) -> str:
        """Return the expression that adds the partial sums of a row."""
        offset = self.offsets[name]
        parts = (f"shared[U({offset + g * self.tile}) + {row}]" for g in range(self.groups))
        return f"({' + '.join(parts)})"

    def _reflect(self) -> None:
        """Compute w, y and the next reflection, in every warp."""
        self._add("vx, tail, vy = R(0), R(0), zero")
        for i in self.lane_rows:
            self._add(
                f"row{i} = lane + U({WARP * i})",
                f"v_{i}, x_{i}, y_{i}, h_{i} = zero, zero, zero, zero",
                f"if row{i} < U({self.tile}):",
                f"    v_{i} = shared[U(V) + row{i}]",
                f"    x_{i} = {self._row_sum('PX', f'row{i}')}",
                f"    y_{i} = tau * {self._row_sum('PY', f'row{i}')}",
                f"    h_{i} = shared[U(B) + row{i}] - y_{i}",
                f"vx += (v_{i}.conjugate() * x_{i}).real",
                f"tail += square(h_{i}) if row{i} > U(0) else R(0)",
            )
        self.lines += warp_sums("real_shuffle_xor", "vx", "tail")
        self._add(
            "beta, tau_next, factor, phase = reflect(shuffle(h_0, 0), tail)",
            "half = tau * vx * R(0.5)",
        )
        for i in self.lane_rows:
            self._add(
                f"n_{i} = h_{i} * factor if row{i} > U(0) else one",
                f"n_{i} = n_{i} if row{i} < U(rows) else zero",
                f"vy += n_{i}.conjugate() * y_{i}",
                f"if t < U({WARP}) and row{i} < U({self.tile}):",
                f"    shared[U(W) + row{i}] = tau * (x_{i} - half * v_{i})",
                f"    shared[U(Y) + row{i}] = y_{i}",
                f"    shared[U(N) + row{i}] = n_{i}",
            )
        self.lines += warp_sums("shuffle_xor", "vy")
        self._add("cuda.syncthreads()")

    def _update(self) -> None:
        """Compute z, update and store both blocks, and make the next reflection the current one."""
        # Each thread sums a part of column r of B.
        self._sum_over_columns("PZ", "#across * #N.conjugate()")
        self._add("vr, wr = shared[U(V) + r], shared[U(W) + r]")
        self._add_for_columns(
            "if #j < width and r >= #j and r < width:",
            "    work[#p] = a# - (vr * #W.conjugate() + wr * #V.conjugate())",
        )
        self._add("cuda.syncthreads()", "yr, nr = shared[U(Y) + r], shared[U(N) + r]")
        for j in range(self.columns):
            self._add(
                self._for_column("vj = #V.conjugate()", j),
                f"z = tau_next * ({self._row_sum('PZ', f'(j0 + U({j}))')} - vy * vj)",
                f"b = b{j} - (yr * vj + nr * z)",
            )
            if j == 0:
                self._add("b = b if j0 > U(0) else (phase * beta if r == U(0) else zero)")
            self._add(
                self._for_column("if #j < width and below:", j),
                self._for_column("    work[#p + width] = b", j),
            )
        self._add("cuda.syncthreads()", f"if t < U({self.tile}):")
        self._add("    shared[U(V) + t] = shared[U(N) + t]", "tau = tau_next")


def warp_sums(shuffle: str, *names: str) -> list[str]:
    """Return statements that sum variables over the lanes of a warp, interleaved.

    `shuffle` is the name of the function that returns the value of another lane.
    """
    return [f"{name} += {shuffle}({name}, {shift})" for shift in (16, 8, 4, 2, 1) for name in names]


def task_source(tile: int, columns: int) -> str:
    """Return the source of run_task, which runs a task and returns tau of the next reflection."""
    return _function("run_task", "shared, work, ld, n, reflectors, thread, pair, tau",
                     Task(tile, columns).lines)  # fmt: skip


def sweep_source(tile: int) -> str:
    """Return the source of start_sweep, which computes the reflection that eliminates column s.

    It returns tau. Each warp computes the reflection, and the first warp stores it.
    """
    rows = range(max(1, tile // WARP))
    lines = [
        "t, lane = thread.number, thread.lane",
        "zero, one = T(0), T(1)",
        "tail, p = R(0), U(s) * U(ld) + U(1)",
    ]
    for i in rows:
        lines += [
            f"row{i} = lane + U({WARP * i})",
            f"h_{i} = work[p + row{i}] if row{i} < U(m) else zero",
            f"tail += square(h_{i}) if row{i} > U(0) else R(0)",
        ]
    lines += warp_sums("real_shuffle_xor", "tail")
    lines += ["beta, tau, factor, phase = reflect(shuffle(h_0, 0), tail)"]
    lines += ["cuda.syncthreads()"]  # all warps have read the column
    for i in rows:
        lines += [
            f"if t < U({WARP}) and row{i} < U({tile}):",
            f"    shared[U(V) + row{i}] = h_{i} * factor if row{i} > U(0) else one",
            f"    if row{i} < U(m):",
            f"        work[p + row{i}] = phase * beta if row{i} == U(0) else zero",
        ]
    return _function("start_sweep", "shared, work, ld, s, m, thread", [*lines, "return tau"])


def _function(name: str, arguments: str, lines: Iterable[str]) -> str:
    """Return the source of a function."""
    return f"def {name}({arguments}):\n" + "".join(f"    {line}\n" for line in lines)


SOURCE_HEADER = """# Device functions of bulge chasing on a GPU.
#
# The tiles have {tile} rows, and each thread has {columns} columns of them. Generated by
# sbth._reduction.bulge_chasing.cuda_source, which explains the names; the kernels that call these
# functions are in sbth._reduction.bulge_chasing.chase_kernels.
#
# U is uint64, T the dtype of the matrix, and R that of its real parts; `sbth._gpu.arithmetic` has
# the functions for real numbers (`real_shuffle_xor`) and for elements. `work` is the working
# matrix, flat, whose rows have `ld` numbers; `shared` is the shared memory of a block of {threads}
# threads.
# Offsets into it:
# {offsets}.
"""
"""Comment that `python -m sbth kernel` prints above the functions."""


def describe_kernel(tile: int) -> str:
    """Return the generated source for tiles of `tile` rows with a comment that explains it."""
    columns = choose_tile(tile)[1]
    offsets = shared_layout(tile, columns)[0]
    header = SOURCE_HEADER.format(
        tile=tile,
        columns=columns,
        threads=thread_count(tile, columns),
        offsets=", ".join(f"{name} = {offset}" for name, offset in offsets.items()),
    )
    return "\n\n".join([header, sweep_source(tile), task_source(tile, columns)])
