"""Nodes of Nolan's integrals for one (alpha, beta), and pdf, cdf and sf as sums over them."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from hetero.arrays import Array, Workspace
from stablegpu._density.half_line import HalfLine, half_lines
from stablegpu._density.nodes import loops
from stablegpu._density.nodes.rule import NODES
from stablegpu._density.outputs import output_arrays
from stablegpu._density.tail_series import (
    FAR_LOG,
    TAIL_TERMS,
    log_limit_of_light_tail,
    tail_coefficients,
)
from stablegpu._parameters import NAMES, Parameters

if TYPE_CHECKING:
    from stablegpu._density.nodes.formulas import NodeRange, Nodes

_LEAST_LOG_Y = -690.0  # close to the smallest normal number


def has_nodes(alpha: float) -> bool:
    """Return whether distributions with this alpha can be evaluated by nodes."""
    return abs(alpha - 1.0) >= NODES.nearest_to_one and alpha >= NODES.smallest_alpha


@functools.lru_cache(maxsize=64)
def nodes_of(
    alpha: float, beta: float
) -> tuple[tuple[HalfLine, HalfLine], tuple[NodeRange, NodeRange], Nodes]:
    """Return both half-lines, the ranges of their nodes, and the nodes in host memory."""
    from stablegpu._density.nodes.formulas import OCTAVES, Nodes

    both = half_lines(alpha, beta)
    parts, node_ranges, blocks = [], [], 0
    for k, side in enumerate(both):
        node_range, part = _side_nodes(side, k * OCTAVES)
        parts.append(part._replace(first=part.first + blocks, last=part.last + blocks))
        node_ranges.append(node_range)
        blocks += part.largest.size
    joined = Nodes(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    right, left = node_ranges
    return both, (right, left), joined


def _side_nodes(side: HalfLine, octave: int) -> tuple[NodeRange, Nodes]:
    """Compute `NodeRange` and `Nodes` of one half-line."""
    from stablegpu._density.nodes import build
    from stablegpu._density.nodes.formulas import FIRST_OCTAVE, OCTAVES, NodeRange, Nodes

    if side.length <= 0.0:
        return _no_nodes(octave)
    alpha, kappa = side.alpha, side.kappa
    # Rising: V has a limit at zeta, else at infinity.
    light = side.left_angle == 0.0 if side.g_increases_with_theta else side.log_right == -math.inf
    log_limit = log_limit_of_light_tail(side)
    limit = math.exp(log_limit) if light else 0.0
    above = _most_g(side, light)

    # The range of y, and of t with all nodes that matter for it.
    lowest = 1e-17 * math.exp(math.lgamma(1.0 + 1.0 / alpha) - math.lgamma(1.0 + 2.0 / alpha))
    highest = math.exp((FAR_LOG - side.log_cos) / alpha)
    if light:
        vanishing = math.exp(max((math.log(NODES.vanished_g) - log_limit) / kappa, _LEAST_LOG_Y))
        lowest, highest = (
            (vanishing, highest) if side.g_increases_with_theta else (lowest, vanishing)
        )
    nearest, farthest = (highest, lowest) if side.g_increases_with_theta else (lowest, highest)
    top = build.solve_t(math.log(above) - kappa * math.log(nearest), limit, side)
    bottom = build.solve_t(math.log(NODES.smallest_g) - kappa * math.log(farthest), limit, side)
    steepest = max(max(1.0, alpha) / abs(1.0 - alpha), 2.0 if light else 0.0)
    step = math.copysign(NODES.step / steepest, top - bottom)
    start = bottom - math.copysign(NODES.decay, step)
    blocks = math.ceil((top - start) / step) // NODES.block + 1

    values, weights = build.compute_nodes(start, step, blocks * NODES.block, limit, side)
    tail = build.sum_weights_beyond(start + blocks * NODES.block * step, step, side)
    by_block = np.append(weights.reshape(-1, NODES.block).sum(axis=1), tail)
    beyond = np.cumsum(by_block[::-1])[::-1]
    octaves = np.arange(OCTAVES) + FIRST_OCTAVE  # of Y
    first = np.searchsorted(values, NODES.smallest_g * np.exp2(-octaves - 1), side="right")
    last = -(-np.searchsorted(values, above * np.exp2(-octaves)) // NODES.block)
    first = np.minimum(first // NODES.block, blocks - 1)
    last = np.maximum(last, first + 1)
    values, weights = (np.append(v, np.zeros(NODES.block)) for v in (values, weights))
    series, largest = build.compute_moments(values, weights)
    node_range = NodeRange(lowest, highest, limit, log_limit, octave, *tail_coefficients(side))
    return node_range, Nodes(values, weights, series, largest, beyond, first, last)


def _most_g(side: HalfLine, light: bool) -> float:
    """Return the g above which e^-g is left out.

    Where a tail is nearly light, little is left besides the far nodes; and for small alpha the
    weights grow with g like g^m.
    """
    thin = side.left_angle if side.g_increases_with_theta else side.tail_gap
    most = NODES.largest_g - (0.0 if light else min(0.0, math.log(thin)))
    if side.g_increases_with_theta:
        m = (1.0 - side.alpha) / side.alpha
        base = most + m - m * math.log(m)
        most += 3.0 * m
        for _ in range(30):
            most = base + m * math.log(most)
    return most


def _no_nodes(octave: int) -> tuple[NodeRange, Nodes]:
    """Return the range and nodes of a half-line outside the support."""
    from stablegpu._density.nodes.formulas import OCTAVES, NodeRange, Nodes

    by_octave, one_block = np.zeros(OCTAVES, np.int64), np.zeros(NODES.block)
    sums = np.zeros((1, NODES.terms)), np.zeros(1), np.zeros(1)
    node_range = NodeRange(math.inf, math.inf, 0.0, 0.0, octave, *(0.0,) * TAIL_TERMS)
    return node_range, Nodes(one_block, one_block, *sums, by_octave, by_octave)


def evaluate_flat(
    points: Array, parameters: Parameters, outputs: dict[str, Array], workspace: Workspace
) -> None:
    """Evaluate the functions named in `outputs` at flat arrays that are in the workspace."""
    half_lines, node_ranges, nodes = nodes_of(parameters.alpha, parameters.beta)
    loops(workspace.device).evaluate(
        points,
        parameters.frame,
        half_lines,
        node_ranges,
        nodes,
        output_arrays(outputs, NAMES, workspace),
        workspace.stream,
    )
