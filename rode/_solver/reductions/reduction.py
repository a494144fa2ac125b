"""The object that describes a reduction of paths: what it keeps, and how parts are joined."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from hetero.arrays import Array, Workspace
from rode._solver.statistics import Loops

State: TypeAlias = dict[str, Any]
"""What a part keeps of its paths: arrays, numbers and lists by name."""


class Extent(NamedTuple):
    """Sizes of a part of a run.

    Attributes
    ----------
    times, outputs, paths : saved times, outputs, and paths of the part
    dtype : data type of the solver
    first : number of the part's first path, counted from the first one of the run
    all_paths : number of paths of the run
    """

    times: int
    outputs: int
    paths: int
    dtype: str
    first: int
    all_paths: int

    @property
    def is_part(self) -> bool:
        """True if other parts compute other paths."""
        return self.paths < self.all_paths

    def shape(self, axes: Sequence[str]) -> tuple[int, ...]:
        """Return the lengths of axes by their names."""
        sizes = {"t": self.times, "output": self.outputs, "path": self.paths}
        return tuple(sizes[axis] for axis in axes)


class Rows(NamedTuple):
    """Outputs of a part at some saved times, as a reduction takes them.

    Attributes
    ----------
    loops : statistics of rows on the part's device
    workspace : arrays on that device
    values : (times, outputs, paths) array on the device
    times : the saved times among all
    """

    loops: Loops
    workspace: Workspace
    values: Array
    times: slice

    @property
    def matrix(self) -> Array:
        """The values with a row for each time and output."""
        times, outputs, paths = self.values.shape
        return self.values.reshape((times * outputs, paths))


class Fold(NamedTuple):
    """Numbers that each path keeps of an output over its coarse steps.

    Attributes
    ----------
    numbers : how many numbers are kept
    update : compiled function (t, h, y, old, is_first) -> numbers
        y is the output at the time t, `old` has the numbers so far; at the start, where `is_first`
        is true, they are not set. h is the coarse step. All floats are of the solver's type.
    """

    numbers: int
    update: Any


class Reduction:
    """A reduction of the outputs of all paths.

    A member overrides what differs from arrays with an axis of paths, which parts fill and which
    are then joined one behind the other.

    Attributes
    ----------
    name : the value of the argument `reduction` of `rode.solve`
    axes : the arrays of a result by name, with the names of their axes: t, output, path,
        probability
    needs_times : whether it takes the outputs at saved times; others fold each coarse step
    functions : a user's functions that make the result, by name
    keeps_rows : name of an array that holds all outputs at all times, so that loops on a CPU may
        write there; or None
    """

    name: str
    axes: Mapping[str, tuple[str, ...]]
    needs_times: ClassVar[bool] = True
    keeps_rows: ClassVar[str | None] = None
    functions: Mapping[str, Any] = MappingProxyType({})

    def __repr__(self) -> str:
        return repr(self.name)

    def memory(self, extent: Extent) -> int:
        """Return the bytes of host memory that the arrays of a result take."""
        item = np.dtype(extent.dtype).itemsize
        return sum([item * math.prod(extent.shape(axes)) for axes in self.axes.values()])

    def row_copies(self) -> int:
        """Return how many copies of a row each thread of a CPU makes."""
        return 0

    def begin(self, extent: Extent) -> State:
        """Return the state of a part before its first paths; that of a fold follows at its end."""
        if not self.needs_times:
            return {}
        return {name: np.empty(extent.shape(a), extent.dtype) for name, a in self.axes.items()}

    def take(self, state: State, rows: Rows) -> None:
        """Add the outputs at some saved times to the state."""

    @property
    def fold(self) -> Fold | None:
        """Return how each path combines the outputs of its coarse steps, or None if it does not."""
        return None

    def finish(self, state: State, folded: np.ndarray) -> None:
        """Fill the state from the numbers of a fold, (outputs, numbers, paths)."""

    def repeat(self, states: Sequence[State]) -> Reduction | None:
        """Return the reduction that joins the parts if they compute their paths again, or None."""
        return None

    def join(self, states: list[State], extent: Extent) -> dict[str, np.ndarray]:
        """Return the arrays of all paths from the states of all parts, and empty the states."""
        return self.combine(states)

    def combine(self, values: list[State], paths: Sequence[int] = ()) -> dict[str, np.ndarray]:
        """Return the arrays of several results, whose numbers of paths are `paths`.

        Each array is dropped from `values` once it is copied, so that one of them is in memory
        twice.
        """
        if len(values) == 1:
            return dict(values[0])
        combined = {}
        for name, axes in self.axes.items():
            axis = axes.index("path")
            shape = list(values[0][name].shape)
            shape[axis] = sum(one[name].shape[axis] for one in values)
            combined[name], end = np.empty(shape, values[0][name].dtype), 0
            for one in values:
                array = one.pop(name)
                begin, end = end, end + array.shape[axis]
                combined[name][(slice(None),) * axis + (slice(begin, end),)] = array
                del array
        return combined

    def columns(self, values: Mapping[str, np.ndarray], output: int) -> dict[str, np.ndarray]:
        """Return statistics of an output over time, by the end of the column's name."""
        return {}


def joint_fold(reductions: Sequence[Reduction]) -> Fold | None:
    """Return the folds of several reductions as one; None if none of them has one."""
    folds = [fold for one in reductions if (fold := one.fold) is not None]
    return functools.reduce(_chain_folds, folds) if folds else None


def _chain_folds(first: Fold, second: Fold) -> Fold:
    """Return the fold that keeps the numbers of two."""
    update = _chain_updates(first.update, second.update, first.numbers)
    return Fold(first.numbers + second.numbers, update)


@functools.cache
def _chain_updates(first: Any, second: Any, count: int) -> Any:
    """Make the function that updates `count` numbers by `first`, and the others by `second`."""
    from hetero.jit import scalar
    from rode._intrinsics.tuple_algebra import cast

    @scalar(forceinline=True)
    def update(t: Any, h: Any, y: Any, old: Any, is_first: Any) -> Any:
        others = second(t, h, y, old[count:], is_first)
        return cast(first(t, h, y, old[:count], is_first), h) + cast(others, h)

    return update
