"""Nodes of Nolan's integrals for one (alpha, beta), and pdf, cdf and sf as sums over them."""

from __future__ import annotations

import functools
import math

import numpy as np

from hetero.arrays import Workspace
from hetero.jit import loops_for
from stablegpu._parameters import NAMES, HalfLine, Parameters, half_lines

NEAREST = 0.07
"""Distance of alpha from 1 from which there are nodes: log g is a sharp difference nearer by."""

SMALLEST = 0.02
"""Stability index below which log V spans more than float64 does."""

_STEP = 0.25  # in log V: the trapezoidal rule is then good to 1e-16
_ABOVE = 40.0
_DECAY = 38.0  # in t: a weight falls below 1e-16 of the others
_FAR = 12.0  # log of y^alpha where the tail's series of four terms is exact
_LEAST = -690.0  # of log y
_VANISHED = 1e15  # g where log pdf is -g to the last digit


def has_nodes(alpha: float) -> bool:
    """Return whether distributions with this alpha can be evaluated by nodes."""
    return abs(alpha - 1.0) >= NEAREST and alpha >= SMALLEST


@functools.lru_cache(maxsize=64)
def nodes_of(alpha: float, beta: float):
    """Both sides, what their sums reach, and the `Nodes` of the law in host memory."""
    from stablegpu._density.nodes.formulas import OCTAVES, Nodes

    both = half_lines(alpha, beta)
    parts, reaches, blocks = [], [], 0
    for k, side in enumerate(both):
        node_range, part = _side_nodes(side, k * OCTAVES)
        parts.append(part._replace(first=part.first + blocks, last=part.last + blocks))
        reaches.append(node_range)
        blocks += part.largest.size
    joined = Nodes(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    return both, tuple(reaches), joined


def _side_nodes(side: HalfLine, octave: int):
    """Compute `NodeRange` and `Nodes` of one half-line."""
    from stablegpu._density.nodes import build
    from stablegpu._density.nodes.formulas import (
        BELOW,
        BLOCK,
        FIRST_OCTAVE,
        OCTAVES,
        NodeRange,
        Nodes,
    )

    if side.length <= 0.0:
        return _nothing(octave)
    alpha, kappa = side.alpha, side.kappa
    # Rising: V has a limit at zeta, else at infinity.
    light = side.left_angle == 0.0 if side.g_increases_with_theta else side.log_right == -math.inf
    log_limit = log_limit_of(side)
    limit = math.exp(log_limit) if light else 0.0
    above = _most_g(side, light)

    # The range of y, and of t with all nodes that matter for it.
    lowest = 1e-17 * math.exp(math.lgamma(1.0 + 1.0 / alpha) - math.lgamma(1.0 + 2.0 / alpha))
    highest = math.exp((_FAR - side.log_cos) / alpha)
    if light:
        vanishing = math.exp(max((math.log(_VANISHED) - log_limit) / kappa, _LEAST))
        lowest, highest = (
            (vanishing, highest) if side.g_increases_with_theta else (lowest, vanishing)
        )
    nearest, farthest = (highest, lowest) if side.g_increases_with_theta else (lowest, highest)
    top = build.solve_t(math.log(above) - kappa * math.log(nearest), limit, side)
    bottom = build.solve_t(math.log(BELOW) - kappa * math.log(farthest), limit, side)
    steepest = max(max(1.0, alpha) / abs(1.0 - alpha), 2.0 if light else 0.0)
    step = math.copysign(_STEP / steepest, top - bottom)
    start = bottom - math.copysign(_DECAY, step)
    blocks = math.ceil((top - start) / step) // BLOCK + 1

    values, weights = build.grid(start, step, blocks * BLOCK, limit, side)
    tail = build.beyond(start + blocks * BLOCK * step, step, side)
    by_block = np.append(weights.reshape(-1, BLOCK).sum(axis=1), tail)
    beyond = np.cumsum(by_block[::-1])[::-1]
    octaves = np.arange(OCTAVES) + FIRST_OCTAVE  # of Y
    first = np.searchsorted(values, BELOW * np.exp2(-octaves - 1), side="right") // BLOCK
    last = -(-np.searchsorted(values, above * np.exp2(-octaves)) // BLOCK)
    first = np.minimum(first, blocks - 1)
    last = np.maximum(last, first + 1)
    values, weights = (np.append(v, np.zeros(BLOCK)) for v in (values, weights))
    series, largest = build.moments(values, weights)
    node_range = NodeRange(lowest, highest, limit, log_limit, octave, *tail_of(side))
    return node_range, Nodes(values, weights, series, largest, beyond, first, last)


def log_limit_of(side: HalfLine) -> float:
    """log V_0 of a light tail."""
    return side.log_scale + math.log(abs(1.0 - side.alpha)) - side.kappa * math.log(side.alpha)


def _most_g(side: HalfLine, light: bool) -> float:
    """g over which e^-g is left out.

    Where a tail is nearly light, little is left besides the far nodes; and for small alpha the
    weights grow with g like g^m.
    """
    thin = side.left_angle if side.g_increases_with_theta else side.tail_gap
    most = _ABOVE - (0.0 if light else min(0.0, math.log(thin)))
    if side.g_increases_with_theta:
        m = (1.0 - side.alpha) / side.alpha
        base = most + m - m * math.log(m)
        most += 3.0 * m
        for _ in range(30):
            most = base + m * math.log(most)
    return most


def _nothing(octave: int):
    """A side outside the support."""
    from stablegpu._density.nodes.formulas import (
        BLOCK,
        OCTAVES,
        TAIL_TERMS,
        TERMS,
        NodeRange,
        Nodes,
    )

    by_octave = np.zeros(OCTAVES, np.int64)
    sums = np.zeros((1, TERMS)), np.zeros(1), np.zeros(1)
    node_range = NodeRange(math.inf, math.inf, 0.0, 0.0, octave, *(0.0,) * TAIL_TERMS)
    return node_range, Nodes(np.zeros(BLOCK), np.zeros(BLOCK), *sums, by_octave, by_octave)


def tail_of(side: HalfLine) -> tuple[float, ...]:
    """Coefficients of sf in powers of y^-alpha (Bergstrom's series): convergent for alpha < 1,
    asymptotic else. Zeros: the tail is light."""
    from stablegpu._density.nodes.formulas import TAIL_TERMS

    if side.log_right == -math.inf:
        return (0.0,) * TAIL_TERMS
    angle, sign = side.alpha * side.length, 1.0
    if side.tail_gap < angle:
        angle, sign = side.tail_gap, -1.0  # sin(k (pi - gap)) = -(-1)^k sin(k gap)
    return tuple(
        (-sign) ** (k - 1)
        * math.exp(math.lgamma(k * side.alpha) - math.lgamma(k + 1.0) - k * side.log_cos)
        * math.sin(k * angle)
        / math.pi
        for k in range(1, TAIL_TERMS + 1)
    )


def evaluate_flat(points, parameters: Parameters, outputs: dict, work: Workspace) -> None:
    """pdf, cdf, ... named in `outputs` at flat arrays in the workspace."""
    both, reaches, nodes = nodes_of(parameters.alpha, parameters.beta)
    unwanted = None if all(name in outputs for name in NAMES) else work.output((0,))
    loops_for("stablegpu._density.nodes", work.device).evaluate(
        points,
        parameters.frame,
        *both,
        *reaches,
        nodes,
        tuple(outputs.get(name, unwanted) for name in NAMES),
        work.stream,
    )
