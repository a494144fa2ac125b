"""A streamed sample, which is read piece by piece."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hetero import validation
from hetero.arrays import as_real
from stablegpu._fit.limits import FEWEST_OBSERVATIONS

MAX_PIECE = 1 << 31
"""Largest number of observations of a piece."""


@dataclass(frozen=True)
class Observations:
    """A sample that is read piece by piece, as often as a fit passes over it.

    Attributes
    ----------
    source : Path of a .npy file, array of one dimension, or function that returns an iterator of
        arrays
    begin, end : the range of the observations; `end` is None for a function
    piece : largest number of observations of a piece of a file or an array
    omits_nan : whether NaN are no observations
    """

    source: Any
    begin: int
    end: int | None
    piece: int
    omits_nan: bool = False

    @property
    def is_splittable(self) -> bool:
        """True if a range of the sample can be read without the observations before it."""
        return self.end is not None

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yield the pieces as contiguous arrays of float64."""
        if self.end is None:
            for piece in self.source():
                yield self.without_nan(_checked_piece(piece))
            return
        array = open_array(self.source) if isinstance(self.source, Path) else self.source
        for begin in range(self.begin, self.end, self.piece):
            yield self.without_nan(_checked_piece(array[begin : min(begin + self.piece, self.end)]))

    def without_nan(self, piece: np.ndarray) -> np.ndarray:
        """Return a piece without NaN if they are left out."""
        if self.omits_nan and (missing := np.isnan(piece)).any():
            piece = piece[~missing]
        return piece

    def split(self, parts: int) -> list[Observations]:
        """Return parts of nearly equal numbers of pieces, in order; one if it has no ranges."""
        if self.end is None:
            return [self]
        pieces = -(-(self.end - self.begin) // self.piece)
        parts = min(parts, pieces)
        ends = [
            min(self.begin + k * pieces // parts * self.piece, self.end) for k in range(parts + 1)
        ]
        return [replace(self, begin=a, end=b) for a, b in itertools.pairwise(ends)]


def observations_of(source: Any, piece: int, omits_nan: bool = False) -> Observations:
    """Check the source of a streamed sample.

    Raises
    ------
    TypeError, ValueError, OSError
    """
    piece = validation.check_integer("piece", piece, FEWEST_OBSERVATIONS, MAX_PIECE)
    if callable(source):
        return Observations(source, 0, None, piece, omits_nan)
    if isinstance(source, str | Path):
        path = validation.check_path("source", source).absolute()
        return Observations(path, 0, open_array(path).size, piece, omits_nan)
    if isinstance(source, np.ndarray):
        _check_array("source", source)
        return Observations(source, 0, source.size, piece, omits_nan)
    if isinstance(source, Iterator):
        raise TypeError(
            "source is read several times, but an iterator ends after the first: pass the function "
            "that returns it"
        )
    if isinstance(source, list | tuple) and source and all(map(_is_array, source)):
        return Observations(_Pieces(tuple(source)), 0, None, piece, omits_nan)
    raise TypeError(
        "source must be the path of a .npy file, an array of one dimension (such as a "
        "numpy.memmap), a list of arrays, or a function that returns an iterator of arrays, got "
        f"{validation.describe(source)}"
    )


def check_size(size: int, expected: int) -> int:
    """Return the size of a pass over a source; raise ValueError if the first had another one."""
    if size != expected:
        raise ValueError(
            f"source must give the same numbers each time, got {expected} in the first pass and "
            f"{size} in a later one: a function must return a new iterator at each call"
        )
    return size


@dataclass(frozen=True)
class _Pieces:
    """A list of arrays as a function that returns them."""

    arrays: tuple[Any, ...]

    def __call__(self) -> Iterable[Any]:
        return self.arrays


def open_array(path: Path) -> np.ndarray:
    """Open the array of a .npy file without reading it."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"{path} is not a .npy file of numbers: {error}") from None
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{path} must be a .npy file with one array, got an archive of several")
    _check_array(str(path), array)
    return array


def _check_array(name: str, array: np.ndarray) -> None:
    """Raise TypeError or ValueError unless an array has one dimension of real numbers."""
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got {array.ndim}")
    as_real(name, array[:1])


def _is_array(value: Any) -> bool:
    return getattr(value, "ndim", 0) == 1


def _checked_piece(piece: Any) -> np.ndarray:
    """Return a piece as a contiguous array of float64; raise an error if it is not one of reals."""
    array = np.ascontiguousarray(as_real("a piece of source", piece), np.float64)
    if array.ndim != 1:
        raise ValueError(f"a piece of source must have one dimension, got {array.ndim}")
    return array
