"""The decomposition of a domain into boxes, one for each rank or device."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hetero.validation import check_finite, check_integer, describe
from lbm.lattices.extent import Triple

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
            f"{f', in multiples of {multiple}' if multiple > 1 else ''}: use a smaller grid"
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
