"""Log-likelihoods of given parameters and their gradients, for many points and sets at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero.arrays import Workspace, on_host
from hetero.devices import resolve
from stablegpu._fit import datasets
from stablegpu._fit.datasets import SortedDataSets, make_starts, upload_ends
from stablegpu._fit.fitted import Fitted
from stablegpu._fit.limits import ALPHA_RANGE
from stablegpu._fit.observations.intervals import Intervals, gather

_BREAK_EVEN = 10_000
"""Observations in all from which on a GPU is faster (not tuned)."""


class Likelihoods:
    """The log-likelihoods of the data of several fits, on one device."""

    def __init__(self, fits: Sequence[Fitted]) -> None:
        sizes = np.array([fit.size for fit in fits])
        device = resolve(fits[0].device, work=int(sizes.sum()), break_even=_BREAK_EVEN)
        self._units = np.array([[fit.distribution.to("S0").loc, fit.scale] for fit in fits])
        stops = np.cumsum(sizes)
        self._ends = np.stack([stops - sizes, stops], axis=1)
        weighted = any(fit.weights is not None for fit in fits)
        weights = np.empty(0)
        if weighted:
            parts = [np.ones(f.size) if f.weights is None else on_host(f.weights) for f in fits]
            weights = np.concatenate(parts)
        with device.active():
            self._workspace = workspace = Workspace(device)
            self._sets = SortedDataSets(
                *(workspace.output((0,)),) * 2, upload_ends(workspace, 0, 0)
            )
            observed = [fit.intervals for fit in fits]
            if observed[0] is None:
                x = np.concatenate([on_host(fit.data).reshape(-1) for fit in fits])
                for a, b in self._ends:
                    order = np.argsort(x[a:b])
                    x[a:b] = x[a:b][order]
                    if weighted:
                        weights[a:b] = weights[a:b][order]
                x, weights = workspace.input("x", x), workspace.input("weights", weights)
                self._sets = self._sets._replace(x=x, weights=weights)
            else:
                lower, upper = (
                    np.concatenate([getattr(ends, name) for ends in observed])
                    for name in ("lower", "upper")
                )
                intervals = Intervals(lower, upper, None, observed[0].truncation)
                starts, stops = self._ends.T.copy()
                gathered, _, _ = gather(intervals, weights, starts, stops, workspace)
                self._ends = workspace.result(gathered.ends, gathered.ends.shape).copy()
                self._ranges = workspace.result(gathered.ranges, gathered.ranges.shape).copy()
                self._sets = self._sets._replace(intervals=gathered)

    def evaluate(self, which: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log-likelihoods and (points, 4) gradients at points of the sets `which`.

        theta (points, 4) holds alpha, beta, the location of S0 and the logarithm of the scale; the
        gradients are by these.
        """
        workspace, units = self._workspace, self._units[which]
        with workspace.device.active():
            ends = upload_ends(workspace, *self._ends[which].T)
            sets = self._sets._replace(ends=ends)
            if sets.intervals is not None:
                ranges = workspace.input("ranges", self._ranges[which]).reshape(len(which), 6)
                sets = sets._replace(intervals=sets.intervals._replace(ends=ends, ranges=ranges))
            parameters = theta.copy()
            parameters[:, 2] = (theta[:, 2] - units[:, 0]) / units[:, 1]
            parameters[:, 3] -= np.log(units[:, 1])
            starts = make_starts(parameters, units, ALPHA_RANGE[0])
            outcomes = datasets.maximize(sets, starts, 0, workspace, workspace)
        gradient = outcomes["gradient"].copy()
        gradient[:, 2] /= units[:, 1]
        return outcomes["loglik"].copy(), gradient
