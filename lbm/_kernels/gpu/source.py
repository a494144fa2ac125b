"""Source of the GPU kernels: the addresses of a streaming pattern, written out for one thread.

A thread updates the `lanes` cells of one word. Names in the generated source:

- x, y, z: the position of the word; xm, xp, ym, ... its neighbours, where the domain wraps around;
- r<dy>_<dz>: the first word of a row, with m for -1, nothing for 0 and p for +1 (rm_p, r_);
- f<q>_<lane>, g<q>_<lane>: a population before and after the collision;
- class_<lane>: the cell's class; from_, into_, special_<lane>: its walls (bits of `Links.masks`).

At walls other addresses are used: population by population, in a branch of its own. Some walls,
such as a lid, send back more than a bounce. A cell at an end of a row keeps the 31 others of its
warp waiting, so what its walls send back should not wait for one load after another. Moving walls
add a number to each population, which a table holds for each class; an outlet and a face with free
slip are formulas of all populations. Cells beside several kinds of these walls look up a wall for
each population, in a loop over the bits that are set, with the populations in local memory. (The
same loop for the addresses costs up to half of the speed.)
"""

from __future__ import annotations

from collections.abc import Iterable

from lbm.geometry.wall_links import FROM, INTO, MIXED, MOVING, RETURN, SLIP, SOLID_CLASS, SPECIAL
from lbm.lattices.streaming_patterns import Access, Address

POSITION = """\
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

ARRAYS = "source, target, source_cells, target_cells, classes, masks, wall_rows, wall_types, added"
"""Arguments of all kernels: populations [slot, word] and [slot, cell]; tables of
`lbm.geometry.wall_links`; and added [class, q], what moving walls add to the populations."""

REGION = "x0, x1, y0, y1, z0, nx, ny, nz"
"""Last arguments of all kernels, uint32: the cells to update and the size of the block, x in words.
The grid's third dimension counts z."""

_SIGN = {-1: "m", 0: "", 1: "p"}


def _row_lines() -> list[str]:
    return [
        f"r{_SIGN[dy]}_{_SIGN[dz]} = nx * (y{_SIGN[dy]} + ny * z{_SIGN[dz]})"
        for dy in (-1, 0, 1)
        for dz in (-1, 0, 1)
    ]


def _word_index(address: Address) -> str:
    """Return the indices of an address in an array [slot, word]."""
    dx, dy, dz = address.shift
    return f"{address.slot}, r{_SIGN[dy]}_{_SIGN[dz]} + x{_SIGN[dx]}"


class KernelSource:
    """The statements of one thread, added one after another.

    Parameters
    ----------
    access : the addresses that the kernel reads and writes
    lanes : populations in a word
    walls : "none", "faces" or "solids": whether there are links into walls, and cells without fluid
    """

    def __init__(self, access: Access, lanes: int, walls: str):
        self.access, self.lanes, self.walls = access, range(lanes), walls != "none"
        self.solids, self.size = walls == "solids", len(access.load)
        self.lines: list[str] = []
        self.add("# The word of this thread.", *POSITION)
        self.compute_addresses()

    def add(self, *lines: str, depth: int = 1) -> None:
        """Append lines, indented by `depth` levels."""
        self.lines += ["    " * depth + line for line in lines]

    def function(self, name: str, arguments: str) -> str:
        """Return the source of the function with all lines added so far."""
        parameters = f"    {ARRAYS},\n    {arguments},\n    {REGION},"
        return "\n".join([f"def {name}(", parameters, "):", *self.lines, ""])

    # ---- addresses ---------------------------------------------------------------------------

    def compute_addresses(self) -> None:
        """Compute rows and neighbours from x, y, z."""
        self.add("# Neighbours, and first words of their rows.", *_NEIGHBOURS, *_row_lines())
        if len(self.lanes) == 2:
            self.add("first, last = x == U(0), x == nx - U(1)")

    def recompute_addresses(self) -> None:
        """Compute them again: kept from the loads to the stores they take half the registers."""
        self.add("x, y, z = opaque(x), opaque(y), opaque(z)")
        self.compute_addresses()

    def _swap_condition(self, address: Address) -> str:
        """Return when the x neighbours of a word's two lanes are swapped: at an end of the row."""
        return {-1: "first", 0: "", 1: "last"}[address.shift[0]] if len(self.lanes) == 2 else ""

    def compute_data_index(self, lane: int) -> None:
        """Set n_ to the index of a lane's cell in arrays [z, y, x] of the region."""
        row = "((z - z0) * (y1 - y0) + (y - y0))"
        if len(self.lanes) == 1:
            self.add(f"n_ = {row} * nx + x")
        else:
            self.add(f"n_ = {row} * (U(2) * nx) + x + U({lane}) * nx")

    def cell_index(self, address: Address, lane: int) -> tuple[str, str]:
        """Return slot and index in [slot, cell] of a lane's cell at a constant address."""
        slot, word = _word_index(address).split(", ")
        if len(self.lanes) == 1:
            return slot, word
        swap = self._swap_condition(address)
        lane_there = f"(U({1 - lane}) if {swap} else U({lane}))" if swap else f"U({lane})"
        return slot, f"U(2) * ({word}) + {lane_there}"

    def look_up_cell_index(self, table: str, lane: int, depth: int) -> None:
        """Set s_, e_ to slot and index of a lane's cell at the address table[q] of a variable q."""
        self.add(
            f"s_, dx = {table}[q, 0], {table}[q, 1]",
            "xx = xm if dx < 0 else (xp if dx > 0 else x)",
            f"yy = ym if {table}[q, 2] < 0 else (yp if {table}[q, 2] > 0 else y)",
            f"zz = zm if {table}[q, 3] < 0 else (zp if {table}[q, 3] > 0 else z)",
            "e_ = nx * (yy + ny * zz) + xx",
            depth=depth,
        )
        if len(self.lanes) == 2:
            swap = "(dx < 0 and first) or (dx > 0 and last)"
            lane_there = f"(U({1 - lane}) if {swap} else U({lane}))"
            self.add(f"e_ = U(2) * e_ + {lane_there}", depth=depth)

    # ---- classes -----------------------------------------------------------------------------

    def read_classes(self, leave: bool = True) -> None:
        """Read the classes of the cells; threads without a fluid cell return if `leave` is set."""
        if not self.walls:
            return
        for i in self.lanes:
            offset = f"U(2) * (r_ + x) + U({i})" if len(self.lanes) == 2 else "r_ + x"
            self.add(f"class_{i} = classes[{offset}]")
        if self.solids and leave:
            solid = " and ".join(f"class_{i} == {SOLID_CLASS}" for i in self.lanes)
            self.add(f"if {solid}:", "    return")

    def read_wall_bits(self, name: str, column: int) -> None:
        """Read a column of `Links.masks` for the class of each lane."""
        for i in self.lanes:
            self.read_wall_bits_of_lane(name, column, i)

    def read_wall_bits_of_lane(self, name: str, column: int, lane: int) -> None:
        """Read a column of `Links.masks` for the class of one lane."""
        self.add(f"{name}_{lane} = masks[class_{lane}, {column}] if class_{lane} != 0 else U(0)")

    def any_bits(self, name: str) -> str:
        """Return the bits of all lanes, combined by or."""
        return f"({' | '.join(f'{name}_{i}' for i in self.lanes)})"

    # ---- populations -------------------------------------------------------------------------

    def populations(self, letter: str, lane: int) -> str:
        """Return a tuple of the populations f or g of a lane."""
        return f"({', '.join(f'{letter}{q}_{lane}' for q in range(self.size))})"

    def load_populations(self) -> None:
        """Load f, first as if there were no walls, then again those that come out of a wall."""
        self.add("# Load the populations.")
        for q, address in enumerate(self.access.load):
            self._load_word(q, address)
        if not self.walls or self.access.load == self.access.wall:
            return
        self.add("# Load those that come out of walls from where the walls have returned them.")
        self.read_wall_bits("from", FROM)
        self.add(f"if {self.any_bits('from')} != U(0):")
        for q in range(1, self.size):
            for i in self.lanes:
                slot, cell = self.cell_index(self.access.wall[q], i)
                self.add(f"if from_{i} & U({1 << q}) != U(0):", depth=2)
                self.add(f"f{q}_{i} = decode(source_cells[{slot}, {cell}])", depth=3)

    def _load_word(self, q: int, address: Address) -> None:
        if len(self.lanes) == 1:
            self.add(f"f{q}_0 = decode(source[{_word_index(address)}])")
            return
        self.add(f"f{q}_0, f{q}_1 = unpack(source[{_word_index(address)}])")
        if swap := self._swap_condition(address):
            self.add(f"f{q}_0, f{q}_1 = (f{q}_1, f{q}_0) if {swap} else (f{q}_0, f{q}_1)")

    def load_viscosity(self, name: str) -> None:
        """Load <name>_<lane> of each lane from an array [word] of the same name."""
        self.add("# Load the eddy viscosity.")
        if len(self.lanes) == 1:
            self.add(f"{name}_0 = decode({name}[r_ + x])")
        else:
            self.add(f"{name}_0, {name}_1 = unpack({name}[r_ + x])")

    def apply_special_walls(self) -> None:
        """Change the populations g that walls send back where that is more than a bounce."""
        if not self.walls:
            return
        row = ", ".join(f"wall_types[k, {j}]" for j in range(5))
        c = ", ".join(f"velocity_of[q, {a}]" for a in range(3))
        for i in self.lanes:
            bits, row_of_q = f"special_{i}", f"wall_rows[class_{i}, q"
            self.add("# Replace the populations that run into special walls by what these return.")
            self.read_wall_bits_of_lane("special", SPECIAL, i)
            self.add(f"if {bits} != U(0):")
            self.add(*self.prepare_special_walls(i), depth=2)
            u, g = f"ux_{i}, uy_{i}, uz_{i}", self.populations("g", i)
            self.add(f"k = masks[class_{i}, {RETURN}]", f"if k == U({MOVING}):", depth=2)
            for q in range(1, self.size):
                self.add(f"g{q}_{i} = g{q}_{i} + added[class_{i}, {q}]", depth=3)
            self.add(f"elif k < U({SLIP}):", depth=2)
            self.add(f"{g} = outlet_returns({g}, {bits}, wall_types[k, 1], {u})", depth=3)
            self.add(f"elif k != U({MIXED}):", depth=2)
            self.add(f"{g} = slip_returns({g}, {bits}, k - U({SLIP}))", depth=3)
            self.add("else:", depth=2)
            self.add("old, new = local_array(T(0)), local_array(T(0))", depth=3)
            for q in range(1, self.size):
                self.add(f"poke(old, {q}, g{q}_{i})", f"poke(new, {q}, g{q}_{i})", depth=3)
            self.add(f"while {bits} != U(0):", depth=3)
            self.add(f"q = cuda.ffs({bits}) - 1", f"{bits} = {bits} & ({bits} - U(1))", depth=4)
            self.add(f"k, f = {row_of_q}, 0], peek(old, {row_of_q}, 1])", depth=4)
            self.add(f"wall_, w = ({row}), weight_of[q]", depth=4)
            self.add(f"poke(new, q, wall_return(f, w, ({c}), wall_, ({u})))", depth=4)
            self.add(*(f"g{q}_{i} = peek(new, {q})" for q in range(1, self.size)), depth=3)

    def prepare_special_walls(self, lane: int) -> list[str]:
        """Return the statements in front of those of special walls, by default none."""
        return []

    def store_populations(self) -> None:
        """Store g; populations that run into a wall go to the wall's addresses."""
        reflected = self.access.reflected
        self.add("# Store the populations, also those that run into walls.")
        # A word of two lanes may have a solid cell, which must not be stored.
        partly_solid = self.solids and len(self.lanes) == 2
        if not self.walls or (self.access.store == reflected and not partly_solid):
            self._store_words(range(self.size), depth=1)
            return
        self.read_wall_bits("into", INTO)
        if partly_solid:
            for i in self.lanes:
                every_bit = f"U({(1 << self.size) - 2})"
                self.add(f"into_{i} = {every_bit} if class_{i} == {SOLID_CLASS} else into_{i}")
        self._store_words([0], depth=1)
        self.add(f"if {self.any_bits('into')} != U(0):")
        for q in range(1, self.size):
            for i in self.lanes:
                self._store_cell(q, i, reflected[q])
        self.add("else:")
        self._store_words(range(1, self.size), depth=2)

    def _store_cell(self, q: int, lane: int, wall: Address) -> None:
        """Store a population of one lane, which may run into a wall."""
        free_slot, free_index = self.cell_index(self.access.store[q], lane)
        wall_slot, wall_index = self.cell_index(wall, lane)
        into = f"into_{lane} & U({1 << q}) != U(0)"
        slot = f"(U({wall_slot}) if {into} else U({free_slot}))"
        index = free_index
        if free_index != wall_index:
            index = f"(({wall_index}) if {into} else ({free_index}))"
        partly_solid = self.solids and len(self.lanes) == 2
        condition = f"if class_{lane} != {SOLID_CLASS}: " if partly_solid else ""
        self.add(f"{condition}target_cells[{slot}, {index}] = encode(g{q}_{lane})", depth=2)

    def _store_words(self, populations: Iterable[int], depth: int) -> None:
        for q in populations:
            address = self.access.store[q]
            word = f"encode(g{q}_0)"
            if len(self.lanes) == 2:
                a, b = f"g{q}_0", f"g{q}_1"
                word = f"pack({a}, {b})"
                if swap := self._swap_condition(address):
                    word = f"pack({b} if {swap} else {a}, {a} if {swap} else {b})"
            self.add(f"target[{_word_index(address)}] = {word}", depth=depth)

    def store_where_loaded(self, lane: int) -> None:
        """Store the populations g of a lane at the addresses that `access` loads from."""
        self.add("values = local_array(T(0))")
        self.add(*(f"poke(values, {q}, g{q}_{lane})" for q in range(self.size)))
        if self.walls:
            self.read_wall_bits_of_lane("from", FROM, lane)
        fluid = f"class_{lane} != {SOLID_CLASS}" if self.solids else "True"
        self.add(f"for q in range({self.size} if {fluid} else 0):")
        if self.walls:
            self.add(f"if (from_{lane} >> U(q)) & U(1) != U(0):", depth=2)
            self.look_up_cell_index("wall_address", lane, depth=3)
            self.add("else:", depth=2)
        self.look_up_cell_index("free_address", lane, depth=3 if self.walls else 2)
        self.add("target_cells[s_, e_] = encode(peek(values, q))", depth=2)
