"""Second starts of an ascent on the CPU: each iteration of the loop searches a data set."""

import numpy as np
from numba import prange

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel
from stablegpu._fit.likelihood.second_starts import formulas
from stablegpu._fit.records import OUTCOME, START

_FIRST = 256
"""Data sets of the first piece of a long loop (`interruptible.ranges`): each takes up to 1 ms."""


@parallel
def _find_peaks_of_sets(x, weights, ends, starts, table, outcomes):
    """Find the peaks of the profile of each data set."""
    for index in prange(ends.shape[0]):
        s = np.int64(index)
        sample, spots = np.zeros(formulas.POINTS), np.zeros(formulas.SPOTS * formulas.SPOT)
        scores = np.zeros(formulas.CANDIDATES)
        size = formulas.gather(x, weights, ends[s, 0], ends[s, 1], sample, 0, 1)
        for spot in range(formulas.SPOTS):
            formulas.find_spot(spot, sample, size, spots)
        for candidate in range(formulas.CANDIDATES):
            scores[candidate] = formulas.score(candidate, sample, size, spots, table, starts[s])
        formulas.write_peaks(scores, spots, table, outcomes[s].peaks)


def find_peaks(x, weights, ends, starts, table, outcomes, stream=0):
    """Write the peaks of the profile of each data set to its outcome."""
    starts, outcomes = starts.view(START), outcomes.view(OUTCOME)
    for a, b in ranges(len(ends), first=_FIRST):
        _find_peaks_of_sets(x, weights, ends[a:b], starts[a:b], table, outcomes[a:b])
