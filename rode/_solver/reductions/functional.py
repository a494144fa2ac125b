"""The reduction to a user's functional of each output: a number of each path."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from hetero import validation
from rode._solver.reductions.reduction import Fold, Reduction, State

TAKEN = ("paths", "mean", "variance", "quantiles", "peaks")
"""Names of the arrays of other reductions, which a result has as attributes."""


class Functional(Reduction):
    """Reduction to a functional of each output, which sees all coarse steps of a path.

    Parameters
    ----------
    name : name of the array (outputs, paths) in `Result.values`; not that of another reduction
    init : (t, y) -> tuple of numbers, the state at the start of the run, when the output is y
    update : (state, t, y, h) -> tuple, the state after a coarse step of length h that ends at t
        Both are scalar functions that Numba can compile, plain or compiled.
    final : (state) -> array, the functional, called once with the state's arrays (outputs, paths)
        None stands for the first number of the state.

    Raises
    ------
    TypeError, ValueError
        A function is none, or `init` and `update` do not return tuples of equally many numbers.
    """

    needs_times = False

    def __init__(
        self,
        name: str,
        init: Callable[..., Any],
        update: Callable[..., Any],
        final: Callable[..., Any] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name.isprintable() or not name:
            raise TypeError(f"name must be a text, got {validation.describe(name)}")
        if name in TAKEN:
            raise ValueError(f"name must not be one of {', '.join(TAKEN)}, got {name!r}")
        for label, one in (("init", init), ("update", update)):
            if not callable(one):
                raise TypeError(f"{label} must be a function, got {validation.describe(one)}")
        if final is not None and not callable(final):
            raise TypeError(f"final must be a function or None, got {validation.describe(final)}")
        first, after = None, None
        try:
            first = init(0.0, 1.0)
            after = update(first, 1.0, 1.0, 1.0) if isinstance(first, tuple) else None
        except Exception as error:
            raise TypeError(
                f"init(t, y) and update(state, t, y, h) must work for t = y = h = 1 and the state "
                f"{first!r}, but raised {type(error).__name__}: {error}"
            ) from error
        if not isinstance(after, tuple) or not len(first) == len(after) > 0:
            raise TypeError(
                "init and update must return tuples of equally many numbers, got "
                f"{first!r} and {after!r}"
            )
        self.name, self.axes = name, {name: ("output", "path")}
        self.functions = {"init": init, "update": update}
        if final is not None:
            self.functions |= {"final": final}
        self._numbers = len(first)

    def named(self, name: str) -> Functional:
        """Return the same functional under another name, to have it for several levels."""
        return Functional(name, **self.functions)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a pickle holds: functions by value, so that results go to other processes."""
        from hetero.numba_internals.pickling import pickle_by_value

        return _from_pickle, (pickle_by_value((self.name, self.functions)),)

    @property
    def fold(self) -> Fold:
        """The user's state."""
        update = _make_update(self.functions["init"], self.functions["update"])
        return Fold(self._numbers, update)

    def finish(self, state: State, folded: np.ndarray) -> None:
        """Compute the functional of each path."""
        numbers = tuple(np.moveaxis(folded, 1, 0))
        final = self.functions.get("final")
        value = numbers[0] if final is None else final(numbers)
        state[self.name] = np.array(np.broadcast_to(value, numbers[0].shape))


def _from_pickle(data: bytes) -> Functional:
    """Return a functional from the pickle of its name and functions."""
    name, functions = pickle.loads(data)
    return Functional(name, **functions)


@functools.lru_cache(maxsize=64)
def _make_update(init: Any, update: Any) -> Any:
    """Make the fold of a user's functions."""
    from hetero.jit import scalar
    from rode._intrinsics.tuple_algebra import cast
    from rode.problems.user_functions import compiled

    begin, go_on = compiled(init), compiled(update)

    @scalar(forceinline=True)
    def fold(t: Any, h: Any, y: Any, old: Any, is_first: Any) -> Any:
        if is_first:
            return cast(begin(t, y), h)
        return cast(go_on(old, t, y, h), h)

    return fold
