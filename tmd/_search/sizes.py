"""The sizes of a block's search, which follow from truncation errors and a model of the costs."""

from __future__ import annotations

import math

from tmd._search.blocks import Block
from tmd._search.formulas import boolean_test_formulas as tests
from tmd._search.formulas.line_formulas import Shape
from tmd._search.taylor_models import Models, Scale, make_model
from tmd.functions.function import Function, ball, working_precision

LATTICE = "lattice"
"""Algorithm of blocks that are searched together, because they differ by constants."""

# Sizes are binary logarithms of numbers of arguments.
SPLITS = (3, 4, 5)  # phase 2 splits a sub-domain into 8, 16 or 32 pieces: at most one for each lane
SPLITS_NEAR_POLES = (1, 2)  # of the shortest sub-domains, into pieces of 2^MIN_PIECE arguments
MAX_SUBDOMAIN = tests.MAX_SUBDOMAIN_LENGTH.bit_length() - 1
MIN_SUBDOMAIN = 6  # the smallest that splits into pieces of 2^5 arguments
MAX_SUPER_BLOCK = 42  # not tuned
MIN_PIECE = 5  # phase 3 gives at least one argument to each of 32 lanes
MAX_PACKET = 9  # the ledger of errors in docs/packages/tmd.md holds up to here
DEGREES = range(3, 25)
SPARE_BITS = 10
"""Bits by which the model's error stays below the distance of a case where the degree allows it."""

_ROUND_COST, _START_COST, _VALUE_COST = 60.0, 2000.0, 20.0
"""Instructions of a thread for a round of a Boolean test, for the Taylor coefficients at a new
argument, and for the next value by differences, as counted for an H200."""

EXHAUSTIVE_COST = _VALUE_COST + _START_COST / 32
"""Instructions of a thread for each argument if all values are computed, without tests."""

_BASIS_COST, _MEMBER_COST = 1500.0, 5.0
"""Instructions of a thread for the basis of a sub-domain, and for the test of each translate."""

_FALSE_ALARMS = {
    "clipped": 1.25,
    "lefevre": 1.2,
    "swap": 1.2,
    "regular": 6.2,
    "alternating": 6.2,
    LATTICE: 3.0,
}
"""Failing sub-domains as a multiple of those with a value near an integer, by algorithm."""


def is_valid_shape(shape: Shape, degree: int) -> bool:
    """Return whether a plan may have these sizes; the kernels rely on it."""
    super_block, subdomain, piece, packet = shape
    return (
        MIN_SUBDOMAIN <= subdomain <= min(MAX_SUBDOMAIN, super_block - 5)
        and is_valid_split(subdomain, piece)
        and 0 <= packet <= min(MAX_PACKET, super_block - subdomain - 5)
        and super_block <= min(MAX_SUPER_BLOCK, subdomain + 30)
        and degree in DEGREES
    )


def is_valid_split(subdomain: int, piece: int) -> bool:
    """Return whether sub-domains of 2^subdomain arguments may have pieces of 2^piece."""
    splits = SPLITS if piece > MIN_PIECE else (*SPLITS_NEAR_POLES, *SPLITS)
    return piece >= MIN_PIECE and subdomain - piece in splits


def log2_coefficients(function: Function, block: Block, scale: Scale) -> list[float]:
    """Return log2 |f^(k)/k!| for k = 0, 1, ..., in test units per argument^k.

    Each is the largest at three points: the first, the middle and the last argument.
    """
    run, shift = block.run, int(scale.doubled) - block.ulp
    logs = [-1e9] * (DEGREES[-1] + 2)
    for index in (0, run.count // 2, run.count - 1):
        with working_precision(96 + max(0, run.quantum + 64) * 2):
            coefficients = function.coefficients(ball(run.argument(index)), len(logs))
            for k, c in enumerate(coefficients):
                mantissa, e = c.abs_upper().mid().man_exp()
                if mantissa:
                    log = math.log2(int(mantissa)) + int(e) + shift + k * run.quantum
                    logs[k] = max(logs[k], log)
    return logs


def choose_super_block(logs: list[float], count: int, bits: int) -> tuple[int, int]:
    """Choose degree and size of super-blocks: few of them, with a sufficiently small remainder."""
    desired = max(MIN_SUBDOMAIN + 5, min(MAX_SUPER_BLOCK, (count - 1).bit_length()))
    target = -float(bits + SPARE_BITS)
    best = 0, 0
    for degree in DEGREES:
        size = int((target - 1 - logs[degree + 1]) / (degree + 1)) + 1
        size = min(size, int(60 - logs[1]), desired)
        if size > best[1]:
            best = degree, size
        if best[1] >= max(MIN_SUBDOMAIN + 5, desired - 2):
            break
    return best


def shrink_until_proven(
    function: Function, block: Block, bits: int, scale: Scale, degree: int, size: int
) -> int:
    """Return the largest size up to `size` at which the models at both ends are good enough.

    Their errors must be below the distance of a case. Derivatives at three points are only a guess,
    because the super-block of a short block reaches far beyond it.
    """
    while size >= MIN_SUBDOMAIN + 5:
        ends = {0, (block.run.count - 1) >> size}
        try:
            models = Models(function, block, scale, size, degree)
            if all(make_model(models, i).error <= scale.case_distance(bits) for i in ends):
                break
        except ArithmeticError:
            pass
        size -= 1
    return size


def _estimate_error(logs: list[float], bits: int, scale: Scale, length: int) -> float:
    """Estimate the sum of the errors of a line over 2^length arguments, in test units."""
    sagitta = 2.0 ** (logs[2] + 2 * length - 3)
    return sagitta + 2.0 ** (1 + int(scale.doubled) - bits) + 2.0 ** (length - 52)


def estimate_cost(
    logs: list[float],
    bits: int,
    scale: Scale,
    subdomain: int,
    piece: int,
    algorithm: str,
    members: int,
) -> float:
    """Estimate the instructions of a search per argument."""
    factor = _FALSE_ALARMS.get(algorithm, 1.25)
    failing_subdomains, failing_pieces = (
        min(1.0, factor * 2 * _estimate_error(logs, bits, scale, length) * 2.0**length)
        for length in (subdomain, piece)
    )
    # A test takes about one round for each binary digit of the length.
    phase_1 = _ROUND_COST * (subdomain - 1)
    if algorithm == LATTICE:
        phase_1 = _BASIS_COST / members + _MEMBER_COST
    phase_2 = _START_COST + 2.0 ** (subdomain - piece) * _ROUND_COST * (piece + 1)
    phase_3 = failing_pieces * (_VALUE_COST + 32 * _START_COST / 2.0**piece)
    return (phase_1 + failing_subdomains * phase_2) / 2.0**subdomain + phase_3


def choose_packet(logs: list[float], subdomain: int) -> int:
    """Return log2 of the number of sub-domains per thread over which a cubic is accurate enough.

    Its truncation error stays below a 64th of the sagitta.
    """
    allowed = logs[2] + 2 * subdomain - 3 - 6
    return int((allowed - logs[4]) / 4 - subdomain - 5)
