"""Slots of the array of floats that is the state of an ascent.

A slot of several numbers is named by the index of its first. The first `RESULT` numbers are what a
fit returns. (A jitted function may read `slots.X`: Numba takes it as a constant.)
"""

CANDIDATE_COUNT = 25  # candidates for the location in a scan

SUMS = 25
"""Numbers that an evaluation returns: log-likelihood, gradient, and products of the scores (lower
triangle), 15 in all; or the log-likelihoods of all candidates of a scan."""

EVALUATIONS = 0  # evaluations of the likelihood so far
WIDTHS = 1  # 4 steps of the finite differences; 0 where a parameter is at a bound or fixed
INFORMATION = 5  # (4, 4) observed information
STATUS = 21
X = 22  # 4 parameters: alpha, beta, location, log of the scale
VALUE = 26  # log-likelihood at X
IN_S1 = 27  # 1 if the location is that of S1, 0 for S0
RESULT = 28

GRADIENT = 28  # 4 derivatives of the log-likelihood at X
MATRIX = 32  # (4, 4) approximation of the information in quasi-Newton steps
TRIAL = 48  # 4 parameters at which the likelihood is evaluated next
PREDICTED = 52  # gain that the step to TRIAL promises
DAMPING = 53  # Levenberg's damping
PHASE = 54
COLUMN = 55  # column of the information that is measured now
FREE = 56  # 4 flags: 1 if the parameter may move
SPARE = 60  # 16 numbers of workspace
DIRECTION = 76  # 4 numbers: the step
SIZE = 80  # 4, the number of parameters
SCANS = 81  # scans so far
TRIES = 82  # restarts since the last improvement
CANDIDATES = 83  # locations of a scan
CANDIDATE_VALUES = CANDIDATES + CANDIDATE_COUNT  # their log-likelihoods

POINT = STATUS  # first slot of all that belongs to X: from STATUS to the end of MATRIX
POINT_SIZE = MATRIX + 16 - POINT
BEST = CANDIDATE_VALUES + CANDIDATE_COUNT  # best point so far, in the order of POINT
BEST_VALUE = BEST + VALUE - POINT
LOWEST_ALPHA = BEST + POINT_SIZE  # least alpha of the data set, if alpha may move
STATE = LOWEST_ALPHA + 1  # size of the array

LOC_IN_S1 = 16
"""Bit beside those of the four free parameters: the location at the start is that of S1."""
