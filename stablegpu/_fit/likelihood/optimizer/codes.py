"""Codes of the optimizer: phases and statuses, which its state holds, and actions."""

FIRST = 0  # the first evaluation at a starting point
SEARCH = 1  # a step of the ascent
INFORM = 2  # a finite difference for the observed information
POLISH = 3  # the last Newton step
SCANNING = 4  # candidates for the location
DONE = 5
"""Phases say what the evaluation under way is for."""

CONVERGED, STUCK, EXHAUSTED, IMPOSSIBLE = 0, 1, 2, 3
"""Statuses, in the order of `STATUSES` (`_fit/records.py`)."""

EVALUATE = 0  # evaluate the likelihood at the trial point: the caller does this
PROPOSE = 1  # propose a step of the search
AFTER_CONVERGENCE = 2  # compare an optimum with the best one so far
NEXT_RESTART = 3  # move to the next restart point, or to the end
DIFFERENCES = 4  # begin with the finite differences
COLUMNS = 5  # measure the next column of the information
LAST = 6  # take the last Newton step
RESTART = 7  # begin at the current point
"""Actions say what the optimizer does next."""
