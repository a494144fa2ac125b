"""Text of the GPU kernels: the places of a pattern, written out for one thread.

A thread updates the `lanes` cells of one word. Names in the text: x, y, z the word's position; xm
and xp its neighbours; r<dy><dz> the first word of a row; f<q>_<lane> a population before and
g<q>_<lane> after the collision; c_<lane> the cell's class, m_<lane> its walls (bits), a_<lane>
those whose reflection is more than a bounce.

Three kernels share everything but their middle: `step` loads, collides and stores; `fields` loads
and writes moments; `fill` reads moments and stores equilibria where the next step will load.
"""

from __future__ import annotations

from lbm.lattice import OPPOSITE, C, Q, W
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

_SIGN = {-1: "m", 0: "", 1: "p"}


def _rows() -> list[str]:
    return [
        f"    r{_SIGN[dy]}_{_SIGN[dz]} = nx * (y{_SIGN[dy]} + ny * z{_SIGN[dz]})"
        for dy in (-1, 0, 1)
        for dz in (-1, 0, 1)
    ]


def _word(place: Place) -> str:
    dx, dy, dz = place.shift
    return f"{place.slot}, r{_SIGN[dy]}_{_SIGN[dz]} + x{_SIGN[dx]}"


class Text:
    """Statements of one thread."""

    def __init__(self, access: Access, lanes: int, walls: bool):
        self.access, self.lanes, self.walls = access, range(lanes), walls
        self.lines = [*_GRID]
        self.addresses()

    def addresses(self) -> None:
        """Rows and neighbours from x, y, z."""
        self.lines += [*_NEIGHBOURS, *_rows()]
        if len(self.lanes) == 2:
            self.add("first, last = x == U(0), x == nx - U(1)")

    def forget_addresses(self) -> None:
        """Compute them again: kept from the loads to the stores they take half the registers."""
        self.add("x, y, z = opaque(x), opaque(y), opaque(z)")
        self.addresses()

    def add(self, *lines: str, depth: int = 1) -> None:
        self.lines += ["    " * depth + line for line in lines]

    # ---- addresses ---------------------------------------------------------------------------

    def _swapped(self, place: Place) -> str:
        """Whether the neighbours in x of a word's lanes have changed lanes: at the row's ends."""
        return {-1: "first", 0: "", 1: "last"}[place.shift[0]] if len(self.lanes) == 2 else ""

    def element(self, place: Place, lane: int) -> str:
        if len(self.lanes) == 1:
            return _word(place)
        slot, word = _word(place).split(", ")
        swap = self._swapped(place)
        own = f"(U({1 - lane}) if {swap} else U({lane}))" if swap else f"U({lane})"
        return f"{slot}, U(2) * ({word}) + {own}"

    # ---- classes -----------------------------------------------------------------------------

    def natural(self, lane: int) -> None:
        """Index of a lane's cell in arrays of the box [z, y, x], which are not folded."""
        row = "((z - z0) * (y1 - y0) + (y - y0))"
        if len(self.lanes) == 1:
            self.add(f"n_ = {row} * nx + x")
        else:
            self.add(f"n_ = {row} * (U(2) * nx) + x + U({lane}) * nx")

    def read_classes(self, leave: bool = True) -> None:
        """What is near; threads without a fluid cell leave."""
        if not self.walls:
            return
        for i in self.lanes:
            offset = f"U(2) * (r_ + x) + U({i})" if len(self.lanes) == 2 else "r_ + x"
            self.add(f"c_{i} = classes[{offset}]")
        solid = " and ".join(f"c_{i} == {SOLID_CLASS}" for i in self.lanes)
        if leave:
            self.add(f"if {solid}:", "    return")
        for i in self.lanes:
            self.add(f"m_{i} = masks[c_{i}, 0] if c_{i} != 0 else U(0)")

    @property
    def near(self) -> str:
        return " or ".join(f"m_{i} != U(0)" for i in self.lanes)

    # ---- populations -------------------------------------------------------------------------

    def load(self) -> None:
        for q, place in enumerate(self.access.load):
            self._load_word(q, place)
        self._load_walls()

    def _load_word(self, q: int, place: Place) -> None:
        if len(self.lanes) == 1:
            self.add(f"f{q}_0 = decode(source[{_word(place)}])")
            return
        self.add(f"f{q}_0, f{q}_1 = take(source[{_word(place)}])")
        if swap := self._swapped(place):
            self.add(f"f{q}_0, f{q}_1 = (f{q}_1, f{q}_0) if {swap} else (f{q}_0, f{q}_1)")

    def _load_walls(self) -> None:
        moved = [q for q in range(1, Q) if self.access.load[q] != self.access.wall[q]]
        if not self.walls or not moved:
            return
        self.add(f"if {self.near}:")
        for q in moved:
            for i in self.lanes:
                # the bit of q is set where its opposite runs into a wall
                self.add(f"if m_{i} & U({1 << OPPOSITE[q]}):", depth=2)
                place = self.element(self.access.wall[q], i)
                self.add(f"f{q}_{i} = decode(source_cells[{place}])", depth=3)

    def reflect(self) -> None:
        """Give the populations that run into a wall their reflected values."""
        if not self.walls:
            return
        for i in self.lanes:
            self.add(f"a_{i} = masks[c_{i}, 1] if c_{i} != 0 else U(0)")
            self.add(f"if a_{i} != U(0):")
            for q in range(1, Q):
                c = ", ".join(f"T({s})" for s in C[q])
                row = ", ".join(f"kinds[k, {j}]" for j in range(8))
                self.add(f"if a_{i} & U({1 << q}):", depth=2)
                self.add(
                    f"k = materials[c_{i}, {q}]",
                    f"g{q}_{i} = reflect(g{q}_{i}, T({W[q]!r}), {c}, ({row}), ux_{i}, uy_{i}, uz_{i})",  # noqa: E501
                    depth=3,
                )

    def store(self) -> None:
        moved = any(self.access.store[q] != self.access.wall[OPPOSITE[q]] for q in range(1, Q))
        if not self.walls or not moved:
            self._store_words(range(Q), depth=1)
            return
        self._store_words([0], depth=1)
        self.add(f"if {self.near}:")
        for q in range(1, Q):
            for i in self.lanes:
                wall = self.element(self.access.wall[OPPOSITE[q]], i)
                own = self.element(self.access.store[q], i)
                self.add(f"if m_{i} & U({1 << q}):", depth=2)
                self.add(f"target_cells[{wall}] = encode(g{q}_{i})", depth=3)
                self.add("else:", depth=2)
                self.add(f"target_cells[{own}] = encode(g{q}_{i})", depth=3)
        self.add("else:")
        self._store_words(range(1, Q), depth=2)

    def _store_words(self, populations, depth: int) -> None:
        for q in populations:
            place = self.access.store[q]
            if len(self.lanes) == 1:
                self.add(f"target[{_word(place)}] = encode(g{q}_0)", depth=depth)
                continue
            pair = f"g{q}_0, g{q}_1"
            if swap := self._swapped(place):
                self.add(f"p, q = (g{q}_1, g{q}_0) if {swap} else ({pair})", depth=depth)
                pair = "p, q"
            self.add(f"target[{_word(place)}] = put({pair})", depth=depth)


PLACES = "source, target, source_cells, target_cells, classes, masks, materials, kinds"
BOX = "x0, x1, y0, y1, z0, nx, ny, nz"


def _tuple(letter: str, lane: int) -> str:
    return f"({', '.join(f'{letter}{q}_{lane}' for q in range(Q))})"


def step(access: Access, lanes: int, walls: bool) -> str:
    """Load, collide, store."""
    text = Text(access, lanes, walls)
    text.read_classes()
    text.load()
    for i in text.lanes:
        text.add(f"g, ux_{i}, uy_{i}, uz_{i} = collide({_tuple('f', i)}, rates, force)")
        text.add(f"{_tuple('g', i)} = g")
    text.reflect()
    if any(place.shift[1] for place in access.store):
        text.forget_addresses()
    text.store()
    return "\n".join([f"def step({PLACES}, rates, force, {BOX}):", *text.lines, ""])


def fields(access: Access, lanes: int, walls: bool) -> str:
    """Load, and write rho - 1 and the velocity; a cell that is not fluid gets zeros."""
    text = Text(access, lanes, walls)
    if walls:
        text.read_classes(leave=False)
    text.load()
    for i in text.lanes:
        text.add(f"rise, ux, uy, uz = velocity({_tuple('f', i)}, force)")
        text.natural(i)
        if walls:
            text.add(f"if c_{i} == {SOLID_CLASS}:", "    rise, ux, uy, uz = T(0), T(0), T(0), T(0)")
        for k, name in enumerate(("rise", "ux", "uy", "uz")):
            text.add(f"out[{k}, n_] = {name}")
    return "\n".join([f"def fields({PLACES}, force, out, {BOX}):", *text.lines, ""])


def fill(access: Access, lanes: int, walls: bool) -> str:
    """Put equilibria of rho - 1 and u, less half the force's impulse, where `access` will load."""
    text = Text(access, lanes, walls)
    text.read_classes()
    for i in text.lanes:
        text.natural(i)
        rows = ", ".join(f"given[{k}, n_]" for k in range(4))
        text.add(f"{_tuple('g', i)} = start({rows}, force)")
        _put_back(text, i)
    return "\n".join([f"def fill({PLACES}, force, given, {BOX}):", *text.lines, ""])


def gather(access: Access, lanes: int, walls: bool) -> str:
    """Copy the populations that `access` would load to out[q, cell]."""
    text = Text(access, lanes, walls)
    text.read_classes()
    text.load()
    for i in text.lanes:
        text.natural(i)
        for q in range(Q):
            text.add(f"out[{q}, n_] = f{q}_{i}")
    return "\n".join([f"def gather({PLACES}, out, {BOX}):", *text.lines, ""])


def scatter(access: Access, lanes: int, walls: bool) -> str:
    """Put given[q, cell] where `access` will load."""
    text = Text(access, lanes, walls)
    text.read_classes()
    for i in text.lanes:
        text.natural(i)
        for q in range(Q):
            text.add(f"g{q}_{i} = given[{q}, n_]")
        _put_back(text, i)
    return "\n".join([f"def scatter({PLACES}, given, {BOX}):", *text.lines, ""])


def _put_back(text: Text, lane: int) -> None:
    """Store the populations g of a lane in the places that `access` loads from."""
    for q in range(Q):
        place, wall = text.access.load[q], text.access.wall[q]
        own = f"target_cells[{text.element(place, lane)}] = encode(g{q}_{lane})"
        if not text.walls or place == wall:
            text.add(own)
            continue
        text.add(f"if m_{lane} & U({1 << OPPOSITE[q]}):")
        text.add(f"target_cells[{text.element(wall, lane)}] = encode(g{q}_{lane})", depth=2)
        text.add("else:")
        text.add(own, depth=2)
