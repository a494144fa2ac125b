"""Text of the GPU kernels: the places of a pattern, written out for one thread.

A thread updates the `lanes` cells of one word. Names in the text: x, y, z the word's position; xm
and xp its neighbours; r<dy>_<dz> the first word of a row; f<q>_<lane> a population before and
g<q>_<lane> after the collision; c_<lane> the cell's class, m_<lane> its walls (bits of masks).

Walls change places: population by population, in a branch of its own. What they send back is more
than a bounce at few of them, such as a lid: that is a loop over the bits that are set, with the
populations in local memory, as written out it would take longer to compile than all the rest. (The
same loop for the places costs up to half of the speed.)
"""

from __future__ import annotations

from lbm.lattice import OPPOSITE, Q
from lbm.links import SOLID_CLASS
from lbm.patterns import Access, Place

_GRID = """\
x = x0 + U(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
y = y0 + U(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
z = z0 + U(cuda.blockIdx.z)
if x >= x1 or y >= y1:
    return
""".splitlines()

_NEIGHBOURS = """\
xm, xp = (x - U(1) if x > U(0) else nx - U(1)), (x + U(1) if x + U(1) < nx else U(0))
ym, yp = (y - U(1) if y > U(0) else ny - U(1)), (y + U(1) if y + U(1) < ny else U(0))
zm, zp = (z - U(1) if z > U(0) else nz - U(1)), (z + U(1) if z + U(1) < nz else U(0))
""".splitlines()

PLACES = "source, target, source_cells, target_cells, classes, masks, materials, kinds"
BOX = "x0, x1, y0, y1, z0, nx, ny, nz"

_SIGN = {-1: "m", 0: "", 1: "p"}


def _rows() -> list[str]:
    return [
        f"r{_SIGN[dy]}_{_SIGN[dz]} = nx * (y{_SIGN[dy]} + ny * z{_SIGN[dz]})"
        for dy in (-1, 0, 1)
        for dz in (-1, 0, 1)
    ]


def _word(place: Place) -> str:
    dx, dy, dz = place.shift
    return f"{place.slot}, r{_SIGN[dy]}_{_SIGN[dz]} + x{_SIGN[dx]}"


def populations(letter: str, lane: int) -> str:
    return f"({', '.join(f'{letter}{q}_{lane}' for q in range(Q))})"


class Text:
    """Statements of one thread.

    Parameters
    ----------
    walls : "none", "faces" or "solids": whether there are links into walls, and cells without fluid
    """

    def __init__(self, access: Access, lanes: int, walls: str):
        self.access, self.lanes, self.walls = access, range(lanes), walls != "none"
        self.solids = walls == "solids"
        self.lines: list[str] = []
        self.add(*_GRID)
        self.addresses()

    def add(self, *lines: str, depth: int = 1) -> None:
        self.lines += ["    " * depth + line for line in lines]

    def define(self, name: str, arguments: str) -> str:
        return "\n".join([f"def {name}({PLACES}, {arguments}, {BOX}):", *self.lines, ""])

    # ---- addresses ---------------------------------------------------------------------------

    def addresses(self) -> None:
        """Rows and neighbours from x, y, z."""
        self.add(*_NEIGHBOURS, *_rows())
        if len(self.lanes) == 2:
            self.add("first, last = x == U(0), x == nx - U(1)")

    def forget_addresses(self) -> None:
        """Compute them again: kept from the loads to the stores they take half the registers."""
        self.add("x, y, z = opaque(x), opaque(y), opaque(z)")
        self.addresses()

    def _swapped(self, place: Place) -> str:
        """Whether the neighbours in x of a word's lanes have changed lanes: at the row's ends."""
        return {-1: "first", 0: "", 1: "last"}[place.shift[0]] if len(self.lanes) == 2 else ""

    def natural(self, lane: int) -> None:
        """Index of a lane's cell in arrays of the box [z, y, x], which are not folded."""
        row = "((z - z0) * (y1 - y0) + (y - y0))"
        if len(self.lanes) == 1:
            self.add(f"n_ = {row} * nx + x")
        else:
            self.add(f"n_ = {row} * (U(2) * nx) + x + U({lane}) * nx")

    def cell(self, place: Place, lane: int) -> tuple[str, str]:
        """Slot and index of a lane's cell in a place that is known now."""
        slot, word = _word(place).split(", ")
        if len(self.lanes) == 1:
            return slot, word
        swap = self._swapped(place)
        other = f"(U({1 - lane}) if {swap} else U({lane}))" if swap else f"U({lane})"
        return slot, f"U(2) * ({word}) + {other}"

    def element(self, table: str, lane: int, depth: int) -> None:
        """s_, e_: slot and index of a lane's cell in the place table[q] of a running q."""
        self.add(
            f"s_, dx = {table}[q, 0], {table}[q, 1]",
            "xx = xm if dx < 0 else (xp if dx > 0 else x)",
            f"yy = ym if {table}[q, 2] < 0 else (yp if {table}[q, 2] > 0 else y)",
            f"zz = zm if {table}[q, 3] < 0 else (zp if {table}[q, 3] > 0 else z)",
            "e_ = nx * (yy + ny * zz) + xx",
            depth=depth,
        )
        if len(self.lanes) == 2:
            turned = "(dx < 0 and first) or (dx > 0 and last)"
            other = f"(U({1 - lane}) if {turned} else U({lane}))"
            self.add(f"e_ = U(2) * e_ + {other}", depth=depth)

    # ---- classes -----------------------------------------------------------------------------

    def read_classes(self, leave: bool = True) -> None:
        """What is near; threads without a fluid cell leave, if they may."""
        if not self.walls:
            return
        for i in self.lanes:
            offset = f"U(2) * (r_ + x) + U({i})" if len(self.lanes) == 2 else "r_ + x"
            self.add(f"c_{i} = classes[{offset}]")
        if self.solids and leave:
            solid = " and ".join(f"c_{i} == {SOLID_CLASS}" for i in self.lanes)
            self.add(f"if {solid}:", "    return")

    def bits(self, name: str, column: int) -> None:
        """The bits of each lane's class."""
        for i in self.lanes:
            self.add(f"{name}_{i} = masks[c_{i}, {column}] if c_{i} != 0 else U(0)")

    def any_bits(self, name: str) -> str:
        return f"({' | '.join(f'{name}_{i}' for i in self.lanes)})"

    # ---- populations -------------------------------------------------------------------------

    def load(self) -> None:
        for q, place in enumerate(self.access.load):
            self._load_word(q, place)
        if not self.walls or self.access.load == self.access.wall:
            return
        self.bits("i", 2)
        self.add(f"if {self.any_bits('i')} != U(0):")
        for q in range(1, Q):
            for i in self.lanes:
                slot, cell = self.cell(self.access.wall[q], i)
                self.add(f"if i_{i} & U({1 << q}) != U(0):", depth=2)
                self.add(f"f{q}_{i} = decode(source_cells[{slot}, {cell}])", depth=3)

    def _load_word(self, q: int, place: Place) -> None:
        if len(self.lanes) == 1:
            self.add(f"f{q}_0 = decode(source[{_word(place)}])")
            return
        self.add(f"f{q}_0, f{q}_1 = take(source[{_word(place)}])")
        if swap := self._swapped(place):
            self.add(f"f{q}_0, f{q}_1 = (f{q}_1, f{q}_0) if {swap} else (f{q}_0, f{q}_1)")

    def reflect(self) -> None:
        """Change what walls send back, where that is more than a bounce."""
        if not self.walls:
            return
        row = ", ".join(f"kinds[k, {j}]" for j in range(5))
        c = ", ".join(f"velocity_of[q, {a}]" for a in range(3))
        for i in self.lanes:
            self.add(f"b_ = masks[c_{i}, 1] if c_{i} != 0 else U(0)", "if b_ != U(0):")
            self.add("old, new = room(T(0)), room(T(0))", depth=2)
            for q in range(1, Q):
                self.add(f"poke(old, {q}, g{q}_{i})", f"poke(new, {q}, g{q}_{i})", depth=2)
            self.add("while b_ != U(0):", depth=2)
            self.add("q = cuda.ffs(b_) - 1", "b_ = b_ & (b_ - U(1))", depth=3)
            self.add(f"k, f = materials[c_{i}, q, 0], peek(old, materials[c_{i}, q, 1])", depth=3)
            self.add(f"wall_, w = ({row}), weight_of[q]", depth=3)
            u = f"ux_{i}, uy_{i}, uz_{i}"
            self.add(f"poke(new, q, reflect(f, w, {c}, wall_, {u}))", depth=3)
            self.add(*(f"g{q}_{i} = peek(new, {q})" for q in range(1, Q)), depth=2)

    def store(self) -> None:
        reflected = tuple(self.access.wall[q] for q in OPPOSITE)
        partly = self.solids and len(self.lanes) == 2  # a word with a cell that stores nothing
        if not self.walls or (self.access.store == reflected and not partly):
            self._store_words(range(Q), depth=1)
            return
        self.bits("m", 0)
        if partly:
            for i in self.lanes:
                self.add(f"m_{i} = U({(1 << Q) - 2}) if c_{i} == {SOLID_CLASS} else m_{i}")
        self._store_words([0], depth=1)
        self.add(f"if {self.any_bits('m')} != U(0):")
        for q in range(1, Q):
            for i in self.lanes:
                self._store_cell(q, i, reflected[q])
        self.add("else:")
        self._store_words(range(1, Q), depth=2)

    def _store_cell(self, q: int, lane: int, wall: Place) -> None:
        """Store a population of one lane, which may run into a wall."""
        own_slot, own = self.cell(self.access.store[q], lane)
        wall_slot, other = self.cell(wall, lane)
        into = f"m_{lane} & U({1 << q}) != U(0)"
        slot = f"(U({wall_slot}) if {into} else U({own_slot}))"
        place = own if own == other else f"(({other}) if {into} else ({own}))"
        fluid = f"if c_{lane} != {SOLID_CLASS}: " if self.solids and len(self.lanes) == 2 else ""
        self.add(f"{fluid}target_cells[{slot}, {place}] = encode(g{q}_{lane})", depth=2)

    def _store_words(self, populations, depth: int) -> None:
        for q in populations:
            place = self.access.store[q]
            word = f"encode(g{q}_0)"
            if len(self.lanes) == 2:
                swap = self._swapped(place)
                a, b = f"g{q}_0", f"g{q}_1"
                word = (
                    f"put({b} if {swap} else {a}, {a} if {swap} else {b})"
                    if swap
                    else f"put({a}, {b})"
                )
            self.add(f"target[{_word(place)}] = {word}", depth=depth)

    def put_back(self, lane: int) -> None:
        """Store the populations g of a lane in the places that `access` loads from."""
        self.add("kept = room(T(0))")
        self.add(*(f"poke(kept, {q}, g{q}_{lane})" for q in range(Q)))
        if self.walls:
            self.add(f"i_ = masks[c_{lane}, 2] if c_{lane} != 0 else U(0)")
        fluid = f"c_{lane} != {SOLID_CLASS}" if self.solids else "True"
        self.add(f"for q in range({Q} if {fluid} else 0):")
        if self.walls:
            self.add("if (i_ >> U(q)) & U(1) != U(0):", depth=2)
            self.element("wall", lane, depth=3)
            self.add("else:", depth=2)
        self.element("free", lane, depth=3 if self.walls else 2)
        self.add("target_cells[s_, e_] = encode(peek(kept, q))", depth=2)
