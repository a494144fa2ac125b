"""Ascent of a log-likelihood in four parameters by its gradient, for both targets.

A machine whose state is an array of floats: `begin` sets it up, the caller evaluates the likelihood
at the trial point in it, `advance` looks at the sums and sets the next trial point, until `DONE`.

Quasi-Newton steps with Levenberg's damping. The first matrix is the sum of the outer products of
the scores (Berndt, Hall, Hall, Hausman 1974), which estimates the information; BFGS corrects it.
alpha and beta have bounds: a step that crosses one ends there, and the others are solved for again.
At the optimum the information is observed by differences of gradients, and gives a last step of
Newton's method.

Parameters: alpha, beta, location over the unit, logarithm of scale over the unit. The location is
that of S0, which is smooth at alpha = 1; for small alpha it is that of S1, where the density has a
spike that other parameters must not move away from the data. There the likelihood has a maximum
near many a datum, and the best of some candidates is the start.
"""

import math

import numpy as np

from hetero.jit import scalar
from stablegpu._points_math import tan_half_pi

SMALLEST_ALPHA = 0.1
MARGIN = 1e-9  # from a bound of a parameter that may move: there derivatives are those beside it
TO_S1, TO_S0 = 0.45, 0.85  # alpha below or above which the location becomes that of the other
TOLERANCE = 1e-9  # gain of log-likelihood that is not worth a step, and relative to it: rounding
RELATIVE = 3e-12
MOST = 150  # evaluations
NEXT_TO_TWO = 1.97
DIFFERENCE = 0.03  # standard errors in the differences for the information
SUMS = 15  # log-likelihood, gradient, outer products of the scores (lower triangle)

# The state.
X, VALUE, GRADIENT, MATRIX, TRIAL = 0, 4, 5, 9, 25
PREDICTED, DAMPING, PHASE, EVALUATIONS, STATUS = 29, 30, 31, 32, 33
FREE, COLUMN, INFORMATION, WIDTHS, SPARE, DIRECTION = 34, 38, 39, 55, 59, 75
IN_S1, SCAN, SCANS, BEST, SIZE, CANDIDATES = 79, 80, 81, 82, 83, 84
PLACES = 17  # candidates
LOC_IN_S1 = 16
TRIES = CANDIDATES + PLACES  # of other betas at alpha = 2
KEPT, KEPT_X = TRIES + 1, TRIES + 2  # the best of them, its log-likelihood and its place
STATE = KEPT_X + 4

FIRST, SEARCH, INFORM, POLISH, SCANNING, DONE = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0
EVALUATE, PROPOSE, DIFFERENCES, COLUMNS, LAST, RESTART, FINISH = range(7)  # what is to be done next
CONVERGED, STUCK, EXHAUSTED, IMPOSSIBLE = 0.0, 1.0, 2.0, 3.0


@scalar
def size_of(m):
    """The number of parameters, 4, unknown to compilers: they would unroll every loop."""
    return int(m[SIZE])


@scalar
def lower_bound(k):
    return SMALLEST_ALPHA if k == 0 else (MARGIN - 1.0 if k == 1 else -np.inf)


@scalar
def upper_bound(k):
    return 2.0 - MARGIN if k == 0 else (1.0 - MARGIN if k == 1 else np.inf)


@scalar
def largest_step(k):
    return 0.3 if k == 0 else (0.6 if k == 1 else (1.5 if k == 2 else 0.7))


@scalar
def begin(m, alpha, beta, loc, log_scale, free):
    """Start from a point in S0; `free` has a bit for every parameter that may move, and another,
    `LOC_IN_S1`, where `loc` is fixed in S1."""
    for k in range(STATE):
        m[k] = 0.0
    m[SIZE], m[KEPT] = 4.0, -np.inf
    m[X], m[X + 1], m[X + 2], m[X + 3] = alpha, beta, loc, log_scale
    for k in range(size_of(m)):
        m[FREE + k] = float((free >> k) & 1)
        if k < 2 and m[FREE + k] > 0.0:
            m[X + k] = min(max(m[X + k], lower_bound(k)), upper_bound(k))
    m[IN_S1] = float((free >> 4) & 1)
    _restart(m)


@scalar
def _restart(m):
    """Begin at X, in the parameterisation that suits its alpha."""
    alpha, beta = m[X], m[X + 1]
    to_s1 = m[FREE + 2] > 0.0 and m[IN_S1] == 0.0 and alpha < TO_S1
    if to_s1 or (m[FREE + 2] > 0.0 and m[IN_S1] > 0.0 and alpha > TO_S0):
        shift = beta * tan_half_pi(alpha) * math.exp(m[X + 3])
        m[X + 2] += -shift if to_s1 else shift
        m[IN_S1] = 1.0 - m[IN_S1]
    m[VALUE] = -np.inf
    m[DAMPING] = 0.0
    m[PHASE] = FIRST
    for k in range(size_of(m)):
        m[TRIAL + k] = m[X + k]
    if to_s1:
        _scan(m)


@scalar
def _scan(m):
    """Try candidates for the location; the caller, who has the data, names them."""
    m[PHASE] = SCANNING
    m[SCANS] += 1.0
    m[SCAN] = 0.0
    m[BEST] = m[VALUE]


@scalar
def _scanned(m, value, fine):
    """The next candidate, or a start from the best."""
    if fine and value > m[BEST] + TOLERANCE:
        m[BEST] = value
        m[X + 2] = m[TRIAL + 2]
        m[PHASE] = SCANNING + 0.5  # something better was found
    m[SCAN] += 1.0
    if m[SCAN] < PLACES:
        m[TRIAL + 2] = m[CANDIDATES + int(m[SCAN])]
    elif m[PHASE] > SCANNING or m[VALUE] == -np.inf:
        return RESTART
    else:
        m[PHASE] = DONE
    return EVALUATE


@scalar
def _is_active(m, k):
    """Whether a parameter is at a bound and the gradient points outwards."""
    x, slope = m[X + k], m[GRADIENT + k]
    return (x <= lower_bound(k) and slope < 0.0) or (x >= upper_bound(k) and slope > 0.0)


@scalar
def solve(m, matrix, damping, moves):
    """Step for (matrix + damping) step = gradient among the parameters whose bit is in `moves`,
    given the steps of the others; to DIRECTION. Whether the matrix is positive definite."""
    for i in range(size_of(m)):
        free_i = (moves >> i) & 1
        for j in range(i + 1):
            free_j = (moves >> j) & 1
            value = m[matrix + 4 * i + j] if free_i and free_j else 0.0
            if i == j:
                value = value * (1.0 + damping) if free_i else 1.0
            for n in range(j):
                value -= m[SPARE + 4 * i + n] * m[SPARE + 4 * j + n]
            if i == j:
                if free_i and not value > 1e-14 * abs(m[matrix + 5 * i]):
                    return False
                m[SPARE + 5 * i] = math.sqrt(value)
            else:
                m[SPARE + 4 * i + j] = value / m[SPARE + 5 * j]
    for i in range(size_of(m)):
        if (moves >> i) & 1:
            value = m[GRADIENT + i]
            for j in range(size_of(m)):
                if not (moves >> j) & 1:
                    value -= m[matrix + 4 * i + j] * m[DIRECTION + j]
            for j in range(i):
                if (moves >> j) & 1:
                    value -= m[SPARE + 4 * i + j] * m[DIRECTION + j]
            m[DIRECTION + i] = value / m[SPARE + 5 * i]
    for i in range(size_of(m) - 1, -1, -1):
        if (moves >> i) & 1:
            value = m[DIRECTION + i]
            for j in range(i + 1, 4):
                if (moves >> j) & 1:
                    value -= m[SPARE + 4 * j + i] * m[DIRECTION + j]
            m[DIRECTION + i] = value / m[SPARE + 5 * i]
    return True


@scalar
def movable(m):
    """Bits of the parameters that are neither fixed nor held at a bound."""
    moves = 0
    for k in range(size_of(m)):
        if m[FREE + k] > 0.0 and not _is_active(m, k):
            moves |= 1 << k
    return moves


@scalar
def _inside(m, matrix, damping):
    """A step that respects the bounds, to DIRECTION; the gain that it promises, or -1."""
    moves = movable(m)
    for k in range(size_of(m)):
        m[DIRECTION + k] = 0.0
    for _ in range(3):
        if not solve(m, matrix, damping, moves):
            return -1.0
        crossed = False
        for k in range(2):
            if (moves >> k) & 1:
                target = m[X + k] + m[DIRECTION + k]
                if not lower_bound(k) <= target <= upper_bound(k):
                    bound = lower_bound(k) if target < lower_bound(k) else upper_bound(k)
                    m[DIRECTION + k] = bound - m[X + k]
                    moves ^= 1 << k
                    crossed = True
        if not crossed:
            break
    shrink = 1.0
    for k in range(size_of(m)):
        size = abs(m[DIRECTION + k])
        if size * shrink > largest_step(k):
            shrink = largest_step(k) / size
    gain = 0.0
    for i in range(size_of(m)):
        m[DIRECTION + i] *= shrink
    for i in range(size_of(m)):
        pull = m[GRADIENT + i]
        for j in range(size_of(m)):
            pull -= 0.5 * m[matrix + 4 * i + j] * m[DIRECTION + j]
        gain += pull * m[DIRECTION + i]
    return gain


@scalar
def _take(m, sums):
    """The trial point becomes the current one."""
    m[VALUE] = sums[0]
    for k in range(size_of(m)):
        m[X + k] = m[TRIAL + k]
        m[GRADIENT + k] = sums[1 + k]


@scalar
def _learn(m, sums):
    """BFGS: the matrix maps the step to the fall of the gradient, where that is possible."""
    curvature = bend = 0.0
    for i in range(size_of(m)):
        step = m[TRIAL + i] - m[X + i]
        pull = 0.0
        for j in range(size_of(m)):
            pull += m[MATRIX + 4 * i + j] * (m[TRIAL + j] - m[X + j])
        m[SPARE + i] = pull
        fall = m[GRADIENT + i] - sums[1 + i] if m[FREE + i] > 0.0 else 0.0
        m[SPARE + 4 + i] = fall
        curvature += step * fall
        bend += step * pull
    if not bend > 0.0 or not curvature < np.inf:
        return
    if curvature < 0.1 * bend:  # Powell's damping
        share = 0.9 * bend / (bend - curvature)
        curvature = 0.0
        for i in range(size_of(m)):
            fall = share * m[SPARE + 4 + i] + (1.0 - share) * m[SPARE + i]
            m[SPARE + 4 + i] = fall
            curvature += fall * (m[TRIAL + i] - m[X + i])
    for i in range(size_of(m)):
        for j in range(size_of(m)):
            gain = m[SPARE + 4 + i] * m[SPARE + 4 + j] / curvature
            m[MATRIX + 4 * i + j] += gain - m[SPARE + i] * m[SPARE + j] / bend


@scalar
def _worth(m):
    """The gain from which on a step is worth while."""
    return TOLERANCE + RELATIVE * abs(m[VALUE])


@scalar
def _settled(m):
    """What follows the search. Where it ends at alpha = 2 another beta may lead away from there:
    the likelihood does not depend on beta, so the gradient does not tell. Both signs are tried."""
    at_two = m[FREE] > 0.0 and m[FREE + 1] > 0.0 and m[X] >= upper_bound(0)
    begun = m[TRIES] > 0.0
    if m[TRIES] > 2.0 or not (begun or (at_two and m[EVALUATIONS] < 0.5 * MOST)):
        return DIFFERENCES
    m[TRIES] += 1.0
    best = m[VALUE] > m[KEPT]
    if best:
        m[KEPT] = m[VALUE]
        for k in range(size_of(m)):
            m[KEPT_X + k] = m[X + k]
    if best and m[TRIES] > 2.0:
        return DIFFERENCES
    for k in range(size_of(m)):
        m[X + k] = m[KEPT_X + k]
    if m[TRIES] < 3.0:
        m[X], m[X + 1] = NEXT_TO_TWO, 0.9 if m[TRIES] < 2.0 else -0.9
    return RESTART


@scalar
def _propose(m, gain):
    """The next trial point of the search, or what follows the search."""
    if gain < 0.0 and m[DAMPING] < 1e12:
        m[DAMPING] = max(10.0 * m[DAMPING], 0.1)
        return PROPOSE
    m[PREDICTED] = gain
    wrong = m[X] < TO_S1 if m[IN_S1] == 0.0 else m[X] > TO_S0
    if wrong and m[FREE + 2] > 0.0 and m[EVALUATIONS] < MOST:
        return RESTART
    if gain < _worth(m) or m[DAMPING] > 1e8:
        m[STATUS] = CONVERGED if m[DAMPING] < 1e8 else STUCK
        return _settled(m)
    if m[EVALUATIONS] >= MOST:
        m[STATUS] = EXHAUSTED
        return DIFFERENCES
    for k in range(size_of(m)):
        m[TRIAL + k] = m[X + k] + m[DIRECTION + k]
    for k in range(2):
        if m[FREE + k] > 0.0:
            m[TRIAL + k] = min(max(m[TRIAL + k], lower_bound(k)), upper_bound(k))
    return EVALUATE


@scalar
def _inform(m):
    """Prepare the differences of gradients; parameters at a bound are left out."""
    m[PHASE] = INFORM
    m[COLUMN] = -1.0
    moves = movable(m)
    for k in range(size_of(m)):
        width = 0.0
        if (moves >> k) & 1:
            width = DIFFERENCE / math.sqrt(max(m[MATRIX + 5 * k], 1e-300))
            width = min(width, 0.1 * largest_step(k))
            width = min(width, 0.5 * min(m[X + k] - lower_bound(k), upper_bound(k) - m[X + k]))
        m[WIDTHS + k] = width
    for k in range(16):
        m[INFORMATION + k] = 0.0


@scalar
def _next_column(m):
    """The next trial point of the differences, or the last step."""
    column = int(m[COLUMN]) + 1
    while column < 8 and m[WIDTHS + column // 2] == 0.0:
        column += 1
    m[COLUMN] = column
    for k in range(size_of(m)):
        m[TRIAL + k] = m[X + k]
    if column < 8:
        m[TRIAL + column // 2] += m[WIDTHS + column // 2] * (1.0 - 2.0 * (column % 2))
        return EVALUATE
    for i in range(size_of(m)):
        if m[WIDTHS + i] == 0.0:
            m[INFORMATION + 5 * i] = 1.0
        for j in range(i):
            if m[WIDTHS + i] == 0.0 or m[WIDTHS + j] == 0.0:
                m[INFORMATION + 4 * i + j] = 0.0
            mean = 0.5 * (m[INFORMATION + 4 * i + j] + m[INFORMATION + 4 * j + i])
            if m[WIDTHS + i] == 0.0 or m[WIDTHS + j] == 0.0:
                mean = 0.0
            m[INFORMATION + 4 * i + j] = m[INFORMATION + 4 * j + i] = mean
    return LAST


@scalar
def _polish(m, gain):
    """The last step, by the information; none where that is not positive definite."""
    if gain < 0.0:
        return FINISH
    m[PHASE] = POLISH
    for k in range(size_of(m)):
        m[TRIAL + k] = m[X + k] + m[DIRECTION + k]
    return EVALUATE


@scalar
def _finish(m):
    """The end, unless another location may be better."""
    m[PHASE] = DONE
    if m[IN_S1] > 0.0 and m[FREE + 2] > 0.0 and m[SCANS] < 6.0 and m[EVALUATIONS] < MOST:
        for k in range(size_of(m)):
            m[TRIAL + k] = m[X + k]
        _scan(m)


@scalar
def _search(m, sums, fine):
    """Look at a step of the search: it is taken if it gains anything."""
    gain = sums[0] - m[VALUE]
    ratio = gain / m[PREDICTED] if fine else -1.0
    if fine:
        _learn(m, sums)
    if fine and gain > 0.0:
        _take(m, sums)
        if ratio < 0.25:
            m[DAMPING] = max(2.0 * m[DAMPING], 0.25)
        elif ratio > 0.6:
            m[DAMPING] = 0.2 * m[DAMPING] if m[DAMPING] > 0.05 else 0.0
    else:
        m[DAMPING] = max(6.0 * m[DAMPING], 1.0)


@scalar
def _look(m, sums):
    """Look at the sums of the trial point; what is to be done next."""
    fine = -np.inf < sums[0] < np.inf
    for k in range(size_of(m)):
        fine = fine and abs(sums[1 + k]) < np.inf
    phase = m[PHASE]
    if phase == FIRST:
        if not fine:
            m[STATUS], m[PHASE] = IMPOSSIBLE, DONE
            return EVALUATE
        _take(m, sums)
        if m[FREE] + m[FREE + 1] + m[FREE + 2] + m[FREE + 3] == 0.0:
            m[PHASE] = DONE
            return EVALUATE
        for i in range(size_of(m)):
            for j in range(i + 1):
                product = sums[5 + i * (i + 1) // 2 + j]
                m[MATRIX + 4 * i + j] = m[MATRIX + 4 * j + i] = product
        m[PHASE] = SEARCH
        return PROPOSE
    if phase == SEARCH:
        _search(m, sums, fine)
        return PROPOSE
    if phase == INFORM:
        column = int(m[COLUMN])
        k = column // 2
        sign = 1.0 - 2.0 * (column % 2)
        for j in range(size_of(m)):
            m[INFORMATION + 4 * k + j] -= sign * sums[1 + j] / (2.0 * m[WIDTHS + k])
        return COLUMNS
    if phase == POLISH:
        if fine and sums[0] >= m[VALUE] - _worth(m):
            _take(m, sums)
        return FINISH
    return _scanned(m, sums[0], fine)


@scalar
def advance(m, sums):
    """Look at the sums of the trial point and set the next one."""
    m[EVALUATIONS] += 1.0
    next_ = _look(m, sums)
    while next_ != EVALUATE:
        if next_ == PROPOSE or next_ == LAST:
            last = next_ == LAST
            gain = _inside(m, INFORMATION if last else MATRIX, 0.0 if last else m[DAMPING])
            next_ = _polish(m, gain) if last else _propose(m, gain)
        elif next_ == DIFFERENCES:
            _inform(m)
            next_ = COLUMNS
        elif next_ == COLUMNS:
            next_ = _next_column(m)
        elif next_ == RESTART:
            _restart(m)
            next_ = EVALUATE
        else:
            _finish(m)
            next_ = EVALUATE
