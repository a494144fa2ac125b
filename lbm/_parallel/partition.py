"""How a domain is cut: into boxes for ranks or devices, and into parts, each on one device."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from hetero.validation import check_finite, check_integer, describe
from lbm.boundaries import Condition
from lbm.lattices.extent import Extent, Triple

AXES = 0, 1, 2
"""Numbers of the axes x, y and z, in the order in which halos are exchanged."""

X_FACE_COST = 4.0
"""Cost of a cell in a face across x, relative to one in a face across y or z: neighbours along x
share a line of memory, so that each cell of such a face moves a whole sector of 32 bytes."""


@dataclass(frozen=True)
class Decomposition:
    """A grid of boxes into which a domain is cut.

    Boxes are numbered with x fastest: box number r belongs to rank r, or to device number r.

    Parameters
    ----------
    grid : three integers
        Number of boxes along x, y and z.
    weights : three sequences or None, optional
        For each axis None, if the boxes have equal widths, or positive numbers, one for each box
        along the axis, to which the widths are proportional.

    Raises
    ------
    ValueError, TypeError
        If a number is not positive, or if there are not as many weights as boxes.

    Examples
    --------
    Two boxes along z, of which the first is three times as thick:

    >>> Decomposition((1, 1, 2), weights=(None, None, (3, 1)))
    Decomposition(grid=(1, 1, 2), weights=(None, None, (3.0, 1.0)))
    """

    grid: Triple
    weights: tuple[tuple[float, ...] | None, ...] = (None, None, None)

    def __post_init__(self) -> None:
        grid = _check_three("grid", self.grid)
        object.__setattr__(self, "grid", tuple(check_integer("grid", n, 1) for n in grid))
        weights = _check_three("weights", self.weights)
        checked = (
            _check_weights(w, n, axis) for w, n, axis in zip(weights, self.grid, "xyz", strict=True)
        )
        object.__setattr__(self, "weights", tuple(checked))

    @property
    def count(self) -> int:
        """Number of boxes."""
        px, py, pz = self.grid
        return px * py * pz

    def bounds(self, shape: Triple, lanes: int = 1) -> tuple[tuple[int, ...], ...]:
        """Return for each axis where the boxes begin, and where the last one ends.

        `lanes` must divide all bounds along x.
        """
        return tuple(
            _cut(n, count, weights, axis, lanes if axis == "x" else 1)
            for n, count, weights, axis in zip(shape, self.grid, self.weights, "xyz", strict=True)
        )


def choose_decomposition(shape: Triple, count: int, lanes: int = 1) -> Decomposition:
    """Return the grid of `count` boxes with the cheapest faces between them.

    Equal boxes are compared by the area of their faces, of which those across x cost X_FACE_COST.
    Cuts across z come first if several grids cost the same.
    """
    nx, ny, nz = shape
    grids = [
        (px, py, pz)
        for px, py, pz in _factorizations(count)
        if px <= nx // lanes and py <= ny and pz <= nz
    ]
    if not grids:
        size = " x ".join(map(str, shape))
        raise ValueError(
            f"a domain of {size} cells cannot be cut into {count} boxes: use fewer ranks"
        )

    def cost(grid: Triple) -> tuple[float, int, int]:
        px, py, pz = grid
        lx, ly, lz = nx / px, ny / py, nz / pz
        across_x, across_y, across_z = ly * lz * (px > 1), lx * lz * (py > 1), lx * ly * (pz > 1)
        return X_FACE_COST * across_x + across_y + across_z, px, py

    return Decomposition(min(grids, key=cost))


def check_decomposition(
    decomposition: str | Sequence[int] | Decomposition, shape: Triple, count: int, lanes: int = 1
) -> Decomposition:
    """Return the argument `decomposition` of a simulation on `count` ranks or devices."""
    if isinstance(decomposition, str):
        if decomposition != "auto":
            raise ValueError(
                "decomposition must be 'auto', three integers (boxes along x, y and z) or an "
                f"lbm.Decomposition, got {decomposition!r}"
            )
        return choose_decomposition(shape, count, lanes)
    if not isinstance(decomposition, Decomposition):
        three = _check_three("decomposition", decomposition)
        x, y, z = (check_integer("decomposition", n, 1) for n in three)
        decomposition = Decomposition((x, y, z))
    if decomposition.count != count:
        raise ValueError(
            f"decomposition has {decomposition.count} boxes {decomposition.grid}, but there "
            f"{'is 1 rank or device' if count == 1 else f'are {count} ranks or devices'}: "
            "use 'auto', or as many boxes as ranks"
        )
    return decomposition


def _check_three(name: str, value: Sequence) -> tuple:
    if (
        isinstance(value, str | set | dict)
        or not np.iterable(value)
        or len(three := tuple(value)) != 3
    ):
        raise ValueError(f"{name} must hold three entries, for x, y and z, got {describe(value)}")
    return three


def _check_weights(weights: Sequence | None, count: int, axis: str) -> tuple[float, ...] | None:
    if weights is None:
        return None
    if not np.iterable(weights):
        raise TypeError(f"weights along {axis} must be numbers, got {describe(weights)}")
    checked = tuple(check_finite("weights", w) for w in weights)
    if len(checked) != count or min(checked) <= 0.0:
        raise ValueError(
            f"weights along {axis} must be {count} positive numbers, one for each box, "
            f"got {weights!r}"
        )
    return checked


def _cut(
    n: int, count: int, weights: tuple[float, ...] | None, axis: str, multiple: int
) -> tuple[int, ...]:
    """Return the bounds of `count` boxes along an axis of n cells."""
    units = n // multiple
    if count > units:
        raise ValueError(
            f"{count} boxes along {axis} do not fit into {n} cells"
            f"{f', in multiples of {multiple}' if multiple > 1 else ''}: use another grid, "
            "or fewer ranks or devices"
        )
    shares = np.cumsum((0.0, *(weights or (1.0,) * count)))
    bounds = [round(units * share / shares[-1]) for share in shares]
    for k in range(1, count):  # no box is empty, however small its weight
        bounds[k] = min(max(bounds[k], bounds[k - 1] + 1), units - (count - k))
    return (*(multiple * b for b in bounds[:-1]), n)


def _factorizations(count: int) -> Iterator[Triple]:
    divisors = [k for k in range(1, count + 1) if count % k == 0]
    for px, py in itertools.product(divisors, repeat=2):
        if count % (px * py) == 0:
            yield px, py, count // (px * py)


@dataclass(frozen=True, eq=False)
class Partition:
    """A grid of parts.

    Attributes
    ----------
    bounds : for each axis, where the parts begin, and where the last one ends
    owners : int [x, y, z], the rank of each part
    periodic : for each axis, whether its ends are neighbours
    cut : for each axis, whether there are several parts along it, which then have halos
    """

    bounds: tuple[tuple[int, ...], ...]
    owners: np.ndarray
    periodic: tuple[bool, ...]
    cut: tuple[bool, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cut", tuple(len(bounds) > 2 for bounds in self.bounds))

    @property
    def shape(self) -> Triple:
        """Number of cells of the whole domain along x, y and z."""
        x, y, z = (bounds[-1] for bounds in self.bounds)
        return x, y, z

    def extent(self, part: Triple) -> Extent:
        """Return the cells of a part."""
        (x0, x1), (y0, y1), (z0, z1) = (
            self.bounds[axis][part[axis] : part[axis] + 2] for axis in AXES
        )
        return Extent((x0, y0, z0), (x1, y1, z1))

    def neighbour(self, part: Triple, axis: int, sign: int) -> Triple | None:
        """Return the part beside another one, towards +axis or -axis, or None at a wall."""
        count = self.owners.shape[axis]
        k = part[axis] + sign
        if not self.periodic[axis] and not 0 <= k < count:
            return None
        x, y, z = (k % count if a == axis else part[a] for a in AXES)
        return x, y, z

    def parts_of(self, rank: int) -> list[Triple]:
        """Return the parts of a rank."""
        return [(int(x), int(y), int(z)) for x, y, z in np.argwhere(self.owners == rank)]

    def region(self, rank: int) -> Extent:
        """Return the box of all cells of a rank."""
        extents = [self.extent(part) for part in self.parts_of(rank)]
        x0, y0, z0 = np.min([e.start for e in extents], axis=0)
        x1, y1, z1 = np.max([e.stop for e in extents], axis=0)
        return Extent((int(x0), int(y0), int(z0)), (int(x1), int(y1), int(z1)))

    def split_rows(self, ratio: float) -> Partition:
        """Cut each part in two across y; the first gets the share `ratio` of its rows, in (0, 1).

        Raises
        ------
        ValueError
            If a part has only one row.
        """
        rows = self.bounds[1]
        fine = [0]
        for y0, y1 in itertools.pairwise(rows):
            if y1 - y0 < 2:
                raise ValueError(
                    f"ratio={ratio!r} cuts boxes between two rows y, but one has a single row: "
                    "use ratio=0 or ratio=1, or fewer boxes along y"
                )
            fine += [y0 + cut_rows(y1 - y0, ratio), y1]
        bounds = self.bounds[0], tuple(fine), self.bounds[2]
        return Partition(bounds, np.repeat(self.owners, 2, axis=1), self.periodic)


def cut_rows(rows: int, ratio: float) -> int:
    """Return how many of `rows` rows the share `ratio` stands for.

    It is none or all of them only if the share is 0 or 1, or if there is one row.
    """
    if ratio in (0.0, 1.0):
        return int(ratio) * rows
    return min(max(1, round(ratio * rows)), rows - 1)


def make_partition(
    shape: Triple,
    faces: Sequence[Condition],
    decomposition: Decomposition,
    lanes: int = 1,
    one_rank: bool = False,
) -> Partition:
    """Cut a domain; box number r belongs to rank r, or all of them to rank 0."""
    periodic = tuple(faces[2 * axis].is_periodic for axis in AXES)
    numbers = np.arange(decomposition.count) * (not one_rank)
    owners = numbers.reshape(decomposition.grid, order="F")
    return Partition(decomposition.bounds(shape, lanes), owners, periodic)
