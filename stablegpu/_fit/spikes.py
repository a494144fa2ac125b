"""Maxima of the likelihood with the density's spike at an observation.

For small alpha the density has a spike at the location of S1, and the likelihood may have a maximum
with this spike at each observation. Which is the highest one shows only when beta and scale are
settled there. An ascent rounds its locations to the precision of the unit and of the data. In a
spike that is hardly wider a step gains what it gains at another location, and the ascent stops
early. So here locations are held, at observations and at floating-point numbers beside them, while
ascents settle the other parameters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hetero.arrays import on_host
from stablegpu._fit import datasets, set_loops
from stablegpu._fit.datasets import BatchFit, SortedDataSets
from stablegpu._fit.likelihood.optimizer.state import CANDIDATE_COUNT
from stablegpu._fit.records import LOC_IN_S1
from stablegpu._parameters import PARAMETERS

_LOCATION = 1 << PARAMETERS.index("loc")
"""Bit of the location among the free parameters."""

_LOSS_OF_END, _LOSS_OF_NARROW, _LOSS_OF_WIDE = 5.0, 2.0, 0.5
"""Log-likelihood below the best of a set down to which the search goes on: before beta and scale
are settled at an observation, and after that in a narrow spike or a wide one. (A location beside
the observation gained up to 0.6.)"""

_LEAST_GAIN = 1e-8
"""Gain of log-likelihood for which an ascent goes on from a wide spike."""

_FIRST_STEP, _LAST_STEP = 2.0, 1e-5
"""First and last step of a location, in widths of the spike: the last one gains up to 1e-10."""

_MOST_STEPS = 100
"""Steps of a location. They double where they gain, and are quartered where they do not."""


class Spikes(NamedTuple):
    """Spikes of data sets: numbers of the sets, ends of ascents, locations, widths.

    `narrow` marks those whose location is searched among floating-point numbers.
    """

    which: np.ndarray
    ends: np.ndarray
    loc: np.ndarray
    widths: np.ndarray
    narrow: np.ndarray

    def select(self, chosen: np.ndarray) -> Spikes:
        """Return the spikes with these numbers or with this mask."""
        return Spikes(*(values[chosen] for values in self))

    def best(self, loss: float, outcomes: np.ndarray) -> Spikes:
        """Return the best spike of each set that is not below its outcome by more than `loss`."""
        loglik = self.ends["loglik"]
        good = self.select(loglik >= outcomes["loglik"][self.which] - loss)
        good = good.select(np.argsort(-good.ends["loglik"], kind="stable"))
        return good.select(np.unique(good.which, return_index=True)[1])


class SpikeSearch:
    """Spikes in which ascents have ended, and the search for better ones.

    Parameters
    ----------
    sets : SortedDataSets
    sizes : (sets,) array
        Numbers of observations.
    units : (sets, 2) array
        Units of location and scale; the location becomes that of a spike which is settled.
    lowest : (sets,) array
        The least alphas.
    batch : BatchFit
    """

    def __init__(
        self,
        sets: SortedDataSets,
        sizes: np.ndarray,
        units: np.ndarray,
        lowest: np.ndarray,
        batch: BatchFit,
    ) -> None:
        self._sets, self._sizes, self._units = sets, sizes, units
        self._lowest, self._batch = lowest, batch
        self._found: list[Spikes] = []

    def collect(self, which: np.ndarray, ends: np.ndarray) -> None:
        """Collect the spikes among the outcomes `ends` of the sets `which`."""
        if not ends["in_s1"].any():
            return
        units, kinds, widths = self._units[which], np.empty(len(ends), int), np.empty(len(ends))
        if set_loops.find_spikes(ends, units, self._sizes[which], kinds, widths):
            loc = units[:, 0] + units[:, 1] * ends["parameters"][:, 2]
            spikes = Spikes(which, ends, loc, widths, kinds == set_loops.NARROW)
            self._found.append(spikes.select(kinds > 0))

    def settle(self, outcomes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Settle spikes at the observations where they are highest.

        Narrow spikes that are the best of their sets overwrite `outcomes`. Returns the sets and the
        parameters of wide spikes that are higher than `outcomes`, from which ascents go on.
        """
        if not self._found:
            return np.empty(0, int), np.empty((0, 4))
        spikes = Spikes(*map(np.concatenate, zip(*self._found, strict=True)))
        spikes = self._at_observations(spikes.best(_LOSS_OF_END, outcomes))
        loglik = self._hold(spikes, outcomes, 0)["loglik"]
        spikes = spikes.select(loglik >= outcomes["loglik"][spikes.which] - _LOSS_OF_END)
        spikes = spikes._replace(ends=self._hold(spikes, outcomes, self._batch.free & ~_LOCATION))
        highest = outcomes["loglik"].copy()
        np.fmax.at(highest, spikes.which, spikes.ends["loglik"])
        loss = np.where(spikes.narrow, _LOSS_OF_NARROW, _LOSS_OF_WIDE)
        spikes = spikes.select(spikes.ends["loglik"] >= highest[spikes.which] - loss)
        self._find_locations(spikes, outcomes)
        wide = spikes.select(~spikes.narrow).best(-_LEAST_GAIN, outcomes)
        parameters, units = wide.ends["parameters"], self._units[wide.which]
        parameters[:, 2] = (wide.loc - units[:, 0]) / units[:, 1]
        narrow = spikes.select(spikes.narrow).best(0.0, outcomes)
        # The location is known as precisely as from an observation in a spike with beta = 0.
        units, kinds, widths = self._units[narrow.which], narrow.which.copy(), narrow.widths
        set_loops.find_spikes(narrow.ends, units, self._sizes[narrow.which], kinds, widths)
        relative = widths / units[:, 1]
        narrow.ends["widths"][:, 2], narrow.ends["information"][:, 2, 2] = relative, relative**-2
        narrow.ends["evaluations"] = outcomes["evaluations"][narrow.which]
        outcomes[narrow.which], self._units[narrow.which, 0] = narrow.ends, narrow.loc
        return wide.which, parameters

    def _at_observations(self, spikes: Spikes) -> Spikes:
        """Return spikes at the nearest observations, and the narrow ones where they are, too.

        Wide ones are left out at the observation next to them, where their ascent has been.
        """
        points, ends = self._sets.x, self._sets.ends
        if self._sets.intervals is not None:
            points, ends = self._sets.intervals.points, self._sets.intervals.ends
        ends = self._batch.host_workspace.result(ends, ends.shape)
        numbers, locations = [np.empty(0, int)], [np.empty(0)]
        for k, (s, loc) in enumerate(zip(spikes.which, spikes.loc, strict=True)):
            x = np.unique(on_host(points[ends[s, 0] : ends[s, 1]]))
            nearest = x[np.argsort(np.abs(x - loc), kind="stable")[:CANDIDATE_COUNT]]
            locations.append(np.append(nearest, loc) if spikes.narrow[k] else nearest[1:])
            numbers.append(np.full(locations[-1].size, k))
        return spikes.select(np.concatenate(numbers))._replace(loc=np.concatenate(locations))

    def _hold(self, spikes: Spikes, outcomes: np.ndarray, free: int) -> np.ndarray:
        """Return the ends of ascents from spikes whose locations are held.

        Their evaluations are added to those of the `outcomes`.
        """
        if not spikes.which.size:
            return spikes.ends
        batch, which, parameters = self._batch, spikes.which, spikes.ends["parameters"].copy()
        parameters[:, 2] = 0.0
        units = np.stack([spikes.loc, self._units[which, 1]], axis=1)
        ends = datasets.maximize(
            datasets.select(self._sets, which, batch.host_workspace),
            datasets.make_starts(parameters, units, self._lowest[which]),
            free | LOC_IN_S1,
            *(batch.workspace, batch.host_workspace),
        )
        np.add.at(outcomes["evaluations"], which, ends["evaluations"])
        return ends

    def _find_locations(self, spikes: Spikes, outcomes: np.ndarray) -> None:
        """Move spikes, whose other parameters are settled, to the best locations next to them."""
        step, going = _FIRST_STEP * spikes.widths, np.arange(spikes.which.size)
        for _ in range(_MOST_STEPS):
            if not going.size:
                break
            part = spikes.select(going)
            least = np.maximum(np.spacing(np.abs(part.loc)), _LAST_STEP * part.widths)
            size = np.maximum(step[going], least)
            moved = np.zeros(going.size, bool)
            for way in (-1.0, 1.0):
                tried = part._replace(loc=part.loc + way * size)
                new = self._hold(tried, outcomes, self._batch.free & ~_LOCATION)
                better = new["loglik"] > spikes.ends["loglik"][going]
                chosen = going[better]
                spikes.ends[chosen], spikes.loc[chosen] = new[better], tried.loc[better]
                moved |= better
            step[going] = size * np.where(moved, 2.0, 0.25)
            going = going[moved | (size > least)]
