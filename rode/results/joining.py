"""Results of disjoint ranges of paths, joined to that of all paths."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from hetero import validation
from hetero.compile_cache.fingerprint import UnknownValueError, fingerprint_of_results
from hetero.compile_cache.sources import SourcesChangedError
from rode._solver.reductions import Reduction
from rode._solver.summary import Work
from rode.results.result import Result


def join_results(results: Iterable[Result]) -> Result:
    """Return the result of all paths from those of disjoint ranges, in the order of the paths.

    Processes that share the work by themselves call `rode.solve` with `first_path` and join their
    results by this function; `rode.solve(executor=...)` and `comm=` do so already.

    Parameters
    ----------
    results : results of one problem with equal settings, of disjoint ranges of paths

    Returns
    -------
    Result
        Paths and peaks are those of a run of all paths, by ascending number; mean and variance,
        which are joined by the update of Chan, Golub and LeVeque (1983), differ from its in the
        last digits. Quantiles of ranges do not give quantiles of all, and are None.

    Raises
    ------
    TypeError, ValueError
        There is no result; two of them have other times, outputs, functions, reductions, seeds,
        types or other settings; or two have paths of the same number.
    """
    validation.require_iterable("results", results, "rode.Result")
    values = list(results)
    for one in values:
        if not isinstance(one, Result):
            described = validation.describe(one)
            raise TypeError(f"results must be a list of rode.Result, got one that is {described}")
    if not values:
        raise ValueError("results must hold at least one rode.Result")
    for other in values[1:]:
        _require_same_settings(values[0], other)
    values.sort(key=lambda one: min((r.start for r in one.path_ranges), default=0))
    ranges = sorted((r for one in values for r in one.path_ranges), key=lambda r: r.start)
    for before, after in itertools.pairwise(ranges):
        if after.start < before.stop:
            raise ValueError(
                f"results must have disjoint paths, but several have path {after.start}: pass "
                "another first_path to rode.solve for each"
            )
    return join(values)


def _require_same_settings(first: Result, other: Result) -> None:
    """Raise ValueError unless two results differ in their paths only."""
    if other.outputs != first.outputs or not np.array_equal(other.t, first.t):
        raise ValueError("results must have equal times and outputs")
    names = first.settings.keys() | other.settings.keys()
    unequal = sorted(n for n in names if first.settings.get(n) != other.settings.get(n))
    if unequal:
        values = " and ".join(repr(one.settings.get(unequal[0])) for one in (first, other))
        raise ValueError(f"results must have equal settings, but {unequal[0]} is {values}")
    for name in first.values.keys() ^ other.values.keys():
        raise ValueError(f"results must have equal reductions, but only some have {name}")
    for one, counterpart in zip(first.reductions, other.reductions, strict=True):
        if one is not counterpart and _functions_of(one) != _functions_of(counterpart):
            raise ValueError(f"results must have equal reductions, but {one.name} differs")


def _functions_of(reduction: Reduction) -> str:
    """Return a hash of a user's functions that make a reduction."""
    try:
        return fingerprint_of_results(*reduction.functions.values())
    except (UnknownValueError, SourcesChangedError) as error:
        raise ValueError(
            f"results: nobody knows whether {reduction.name} is the same: {error}"
        ) from None


def join(results: list[Result]) -> Result:
    """Join results, and drop their arrays one by one, so that only a part is in memory twice."""
    if len(results) == 1:
        return results.pop()
    first, works = results[0], [r.work for r in results]
    failures = [r.message for r in results if not r.success]
    ranges = _join_ranges(results)
    arrays = [dict(r.values) for r in results]
    results.clear()
    values: dict[str, np.ndarray] = {}
    for one in first.reductions:
        values |= one.combine(arrays, [w.paths for w in works])
    return replace(
        first,
        work=Work(
            sum(w.paths for w in works),
            first.work.coarse_steps,
            sum(w.fine_steps for w in works),
            sum(w.normals for w in works),
        ),
        status="diverged" if failures else "success",
        message="; ".join(failures) if failures else first.message,
        values=values,
        path_ranges=ranges,
    )


def _join_ranges(results: list[Result]) -> tuple[range, ...]:
    """Return the ranges of all results in their order; those that touch become one."""
    joined: list[range] = []
    for one in (r for result in results for r in result.path_ranges):
        if joined and joined[-1].stop == one.start:
            one = range(joined.pop().start, one.stop)
        joined.append(one)
    return tuple(joined)
