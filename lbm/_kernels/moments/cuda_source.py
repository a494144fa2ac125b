"""Source of the GPU kernels whose state is ten moments: a step, and loads and stores of the others.

A block of a step marches along z over a tile of TX x TY cells in x and y, with a thread for each
cell and one for each neighbour of the tile. In every layer a thread reconstructs the populations of
its cell after the collision and writes those that move across the tile to shared memory. Behind
one barrier it sums what arrives in its cell, in three parts: populations that moved up from the
layer below, those that stay in the layer, and those that come down from the layer above, with
which the cell is complete. The words of the next layer are loaded before the barrier and are not
looked at before the next turn, so that no thread waits for memory in front of the barrier.

Cells that are solid, or behind a wall, have moments of zero and send nothing. What walls return
into a cell are its own populations, which it adds in its own layer. Names in the source:

- w0, w1, ..., eddies: words and eddy viscosity of the cell in the layer to come; class_0 and below:
  classes of this cell and of that in the layer below; into: links into walls (`Links.masks`);
- first, z: the layer of the second turn, and the layer to load; turn: 0 for the layer below first,
  and so on up to the last one, that above the block's layers;
- up_s, up_x, ...: sums of f, c_x f, c_y f, c_x^2 f, ... that arrive from the layer below; sum_s,
  sum_x, ...: those of a cell that lacks only what comes from the layer above;
- A<q>: where a thread writes population q in shared memory; R<q>: where it reads what arrives;
- I, U: uint64 and uint32; a signed index, or a long one, would take more instructions.
"""

from __future__ import annotations

from lbm._kernels.gpu.source import ARRAYS, POSITION, KernelSource
from lbm._kernels.moments.formulas import GROUP, MOMENTS
from lbm.geometry.wall_links import INTO, SOLID_CLASS
from lbm.lattices import Lattice

SIZES = "nx, ny, nz, z0, z1, layers, wrap_x, wrap_y, wrap_z"
"""Last arguments of a step, int64: the size of the block, the layers z0 <= z < z1 to step, those
through which a block of threads marches, and 1 for each axis that is periodic."""

_THREAD = """\
shared = cuda.shared.array(0, NUMBER)
t = cuda.threadIdx.x
if t < TX * TY:
    lx, ly = t % TX, t // TX
elif t < TX * TY + 2 * (TX + 2):
    h = t - TX * TY
    lx, ly = h % (TX + 2) - 1, -1 if h < TX + 2 else TY
else:
    h = min(t - TX * TY - 2 * (TX + 2), 2 * TY - 1)
    lx, ly = -1 if h < TY else TX, h % TY
x, y = cuda.blockIdx.x * TX + lx, cuda.blockIdx.y * TY + ly
owned = t < TX * TY and x < nx and y < ny
exists = x <= nx and y <= ny
if x < 0 or x >= nx:
    exists = exists and wrap_x != 0
    x = nx - 1 if x < 0 else 0
if y < 0 or y >= ny:
    exists = exists and wrap_y != 0
    y = ny - 1 if y < 0 else 0
write = I((ly + 1) * (TX + 2) + lx + 1)
column, layer, height, wraps = U(y * nx + x), U(nx * ny), U(nz), wrap_z != 0
first = U(U(z0) + U(cuda.blockIdx.z * layers))
turns = U(min(U(layers), U(U(z1) - first)) + U(1))
z = U(first - U(1)) if first > U(0) else (U(height - U(1)) if wraps else height)
""".splitlines()

_FINISHED = (
    "sum_s + d_s", "sum_x + d_x", "sum_y + d_y", "sum_z - d_s",
    "(sum_xx + d_xx) - THIRD * (sum_s + d_s)", "(sum_yy + d_yy) - THIRD * (sum_s + d_s)",
    "(sum_zz + d_s) - THIRD * (sum_s + d_s)", "sum_xy + d_xy", "sum_xz - d_x", "sum_yz - d_y",
)  # fmt: skip
"""Moments of a cell from the sums of what arrived and of what comes down."""

_SUMS = "s", "x", "y", "xx", "yy", "xy"
"""Sums over the populations of a layer: of f, c_x f, c_y f, c_x^2 f, c_y^2 f and c_x c_y f."""


def _word_of_cell(name: str, cell: str, words: int) -> str:
    """Return the statement that sets a name to the index of the first word of a cell."""
    return f"{name} = I(({cell}) // U({GROUP})) * I({GROUP * words}) + I(({cell}) % U({GROUP}))"


def _sum_layer(lattice: Lattice, up: int, prefix: str, resting: str) -> list[str]:
    """Sum the populations v<q> with c_z = up; `resting` adds the one that stays in its column."""
    q_of = {v: q for q, v in enumerate(lattice.velocities)}
    a, b, d, e = (f"v{q_of[x, y, up]}" for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)))
    if (1, 1, up) not in q_of:
        return [
            f"{prefix}_xx, {prefix}_yy, {prefix}_xy = {a} + {b}, {d} + {e}, T(0)",
            f"{prefix}_s = ({prefix}_xx + {prefix}_yy){resting}",
            f"{prefix}_x, {prefix}_y = {a} - {b}, {d} - {e}",
        ]
    g, h, i, j = (f"v{q_of[x, y, up]}" for x, y in ((1, 1), (-1, -1), (1, -1), (-1, 1)))
    return [
        f"one, two = {g} + {h}, {i} + {j}",
        f"{prefix}_xx, {prefix}_yy, {prefix}_xy = {a} + {b}, {d} + {e}, one - two",
        "both = one + two",
        f"{prefix}_s = ({prefix}_xx + {prefix}_yy) + (both{resting})",
        f"{prefix}_xx, {prefix}_yy = {prefix}_xx + both, {prefix}_yy + both",
        f"one, two = {g} - {h}, {i} - {j}",
        f"{prefix}_x, {prefix}_y = ({a} - {b}) + (one + two), ({d} - {e}) + (one - two)",
    ]


def step_source(
    lattice: Lattice, walls: str, forced: bool, words: int, reads_viscosity: bool = False,
    streams: bool = False,
) -> str:  # fmt: skip
    """Write the step of some layers; `words` hold a cell, and `streams` are free ones at faces."""
    has_walls, viscosity = walls != "none", ", viscosity" * reads_viscosity
    c, w = lattice.velocities, ", ".join(f"w{k}" for k in range(words))

    load = [f"{w} = {', '.join(['W(0)'] * words)}"]
    load += [f"class_next = U({SOLID_CLASS})"] * has_walls
    load += ["eddies = T(0)"] * reads_viscosity
    load += [
        "if exists and z < height:",
        "    cell = U(U(z * layer) + column)",
        f"    {_word_of_cell('at', 'cell', words)}",
        *(f"    w{k} = source[at + I({GROUP * k})]" for k in range(words)),
    ]
    load += ["    eddies = viscosity[cell]"] * reads_viscosity
    load += ["    class_next = U(classes[cell])"] * has_walls

    def arriving(up: int, prefix: str) -> list[str]:
        """Sum the populations with c_z = up that arrive in this layer."""
        moving = (q for q, v in enumerate(c) if v[2] == up and any(v[:2]))
        resting = f" + f[{c.index((0, 0, up))}]"
        return [f"v{q} = shared[there + R{q}]" for q in moving] + _sum_layer(
            lattice, up, prefix, resting
        )

    lines = [*_THREAD]
    if has_walls:
        lines += [f"below = class_0 = U({SOLID_CLASS})"]
    names = [f"up_{k}" for k in _SUMS] + [f"sum_{k}" for k in (*_SUMS, "z", "zz", "xz", "yz")]
    lines += [f"{name} = T(0)" for name in names]
    lines += [*load, "z, turn = first, U(0)", "while turn <= turns:"]
    body = ["below, class_0 = class_0, class_next"] * has_walls
    if forced and has_walls:
        body += [f"share = T(0) if class_0 == U({SOLID_CLASS}) else T(1)"]
        body += ["here_force = share * force[0], share * force[1], share * force[2]"]
    elif forced:
        body += ["here_force = force"]
    rates = "(*rates, eddies)" if reads_viscosity else "rates"
    body += [f"f = reconstruct(({w},), {rates}, {'here_force' if forced else 'force'})"]
    body += ["if turn < turns:", *(f"    {line}" for line in load)]
    body += ["    z = U(z + U(1))", "    if z == height and wraps:", "        z = U(0)"]
    body += ["here = I(turn & U(1)) * PAGE + write"]
    body += [f"shared[here + A{q}] = f[{q}]" for q, v in enumerate(c) if any(v[:2])]
    body += ["cuda.syncthreads()", "if owned:"]
    inner = ["there = here - I(TX + 3)", *arriving(-1, "d")]
    # Beside an eddy viscosity there is no register for the class: the cache has it.
    class_below = "classes[cell]" if reads_viscosity else "below"
    fluid = f"{class_below} != U({SOLID_CLASS})" if walls == "solids" else "True"
    inner += ["if turn > U(1):"]
    inner += ["    cell = U(U(U(U(first + turn) - U(2)) * layer) + column)"]
    inner += [f"    if {fluid}:"]
    inner += [f"        packed = pack(({', '.join(_FINISHED)}))"]
    inner += [f"        {_word_of_cell('at', 'cell', words)}"]
    inner += [f"        target[at + I({GROUP * k})] = packed[{k}]" for k in range(words)]
    inner += arriving(0, "o")
    inner += [f"sum_{k} = up_{k} + o_{k}" for k in _SUMS]
    inner += ["sum_z, sum_zz, sum_xz, sum_yz = up_s, up_s, up_x, up_y"]
    inner += arriving(1, "up")
    if has_walls:
        inner += _returns(lattice, walls == "solids", streams)
    body += [f"    {line}" for line in inner]
    lines += [f"    {line}" for line in [*body, "turn = U(turn + U(1))"]]
    head = (
        f"def step(\n    source, target, classes, {_TABLES}, rates, force{viscosity}, {SIZES}\n):"
    )
    return "\n".join([head, *(f"    {line}" for line in lines), ""])


_TABLES = ARRAYS.partition("classes, ")[2]
"""The tables of walls among the arguments of all kernels."""


def _returns(lattice: Lattice, solids: bool, streams: bool) -> list[str]:
    """Add what walls return into a cell to its sums.

    With streams, INTO has no links into them, and `added` what they return (`wall_tables`).
    """
    walls = MomentsSource(MOMENTS, lattice, "faces")
    walls.lines = []
    walls.apply_special_walls()
    moving = range(1, lattice.size)
    nothing = "added[class_0, {}]" if streams else "T(0)"
    lines = [
        f"into = masks[class_0, {INTO}]",
        *(
            f"g{q}_0 = {f'shared[here + A{q}]' if any(v[:2]) else f'f[{q}]'}"
            for q, v in enumerate(lattice.velocities)
        ),
        *(line.removeprefix("    ") for line in walls.lines),
        *["class_0 = opaque(class_0)"] * streams,  # addresses kept from above cost registers
        *(f"v{q} = g{q}_0 if into & U({1 << q}) != U(0) else {nothing.format(q)}" for q in moving),
    ]
    for up in (-1, 0, 1):
        resting = f" + v{lattice.velocities.index((0, 0, up))}" * (up != 0)
        lines += _sum_layer(lattice, up, "back", resting)
        # Population q comes back with the velocity -c_q.
        lines += [f"sum_{k} {'-' if k in ('x', 'y') else '+'}= back_{k}" for k in _SUMS]
        if up:
            lines += [f"sum_z {'-' if up > 0 else '+'}= back_s", "sum_zz += back_s"]
            lines += [f"sum_{k}z {'+' if up > 0 else '-'}= back_{k}" for k in "xy"]
    fluid = f" and class_0 != U({SOLID_CLASS})" * solids
    return [f"if class_0 != U(0){fluid}:", *(f"    {line}" for line in lines)]


class MomentsSource(KernelSource):
    """The statements of one thread in the kernels between two steps, which load a cell as the
    populations with its moments, and store the moments of populations."""

    def __init__(self, words: int, lattice: Lattice, walls: str):
        self.lanes, self.walls, self.size = range(1), walls != "none", lattice.size
        self.solids, self.words, self.lines = walls == "solids", words, []
        self.add("# The cell of this thread.", *POSITION, "r_ = nx * (y + ny * z)")
        self.add(_word_of_cell("at_", "r_ + x", words))

    def prepare_special_walls(self, lane: int) -> list[str]:
        """Compute the velocity, which bounces do not need, of the populations g of a cell."""
        g = self.populations("g", lane)
        return [f"_, ux_0, uy_0, uz_0 = velocity({g}, (-force[0], -force[1], -force[2]))"]

    def recompute_addresses(self) -> None:
        """Do nothing: there is one address."""

    def load_populations(self) -> None:
        """Load the moments, and set f to populations that have them."""
        words = ", ".join(f"source[at_ + I({GROUP * k})]" for k in range(self.words))
        self.add(f"{self.populations('f', 0)} = of_moments(unpack(({words},)))")

    def store_where_loaded(self, lane: int) -> None:
        """Store the moments of the populations g."""
        self.add(f"w_ = pack(to_moments({self.populations('g', lane)}))")
        fluid = f"class_{lane} != {SOLID_CLASS}" if self.solids else "True"
        self.add(
            f"if {fluid}:",
            *(f"    target[at_ + I({GROUP * k})] = w_[{k}]" for k in range(self.words)),
        )
