"""Nodes of Nolan's integrals for one (alpha, beta), and pdf, cdf and sf as sums over them."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

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
    from stablegpu._density.nodes import build
    from stablegpu._density.nodes.formulas import OCTAVES, NodeRange

    both = half_lines(alpha, beta)
    grids = [_choose_grid(side) for side in both]
    counts = [grid.blocks + 1 for grid in grids]  # the last one is empty
    nodes = _empty_nodes(sum(counts))
    first_block, node_ranges = 0, []
    for k, (side, grid, count) in enumerate(zip(both, grids, counts, strict=True)):
        octave = k * OCTAVES
        if grid.blocks:
            part = _blocks_of(nodes, first_block, first_block + count)
            numbers = grid.start, grid.step, grid.limit, grid.most_g
            build.lay_out(part, first_block, octave, *numbers, side)
        else:
            _fill_without_nodes(nodes, first_block, octave)
        limits = grid.lowest, grid.highest, grid.limit, grid.log_limit
        node_ranges.append(NodeRange(*limits, octave, *grid.tail))
        first_block += count
    right, left = node_ranges
    return both, (right, left), nodes


class _Grid(NamedTuple):
    """Nodes of one side as equidistant values of t, and the range of y that they serve."""

    start: float
    step: float
    blocks: int  # 0: the half-line is outside of the support
    lowest: float  # of y
    highest: float
    limit: float  # V_0, or 0
    log_limit: float
    most_g: float
    tail: tuple[float, ...]  # coefficients of the series of the tail


_OUTSIDE = _Grid(0.0, 0.0, 0, math.inf, math.inf, 0.0, 0.0, 0.0, (0.0,) * TAIL_TERMS)


def _choose_grid(side: HalfLine) -> _Grid:
    """Return the values of t that matter for one side."""
    from stablegpu._density.nodes import build

    if side.length <= 0.0:
        return _OUTSIDE
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
    tail = tail_coefficients(side)
    return _Grid(start, step, blocks, lowest, highest, limit, log_limit, above, tail)


def _empty_nodes(blocks: int) -> Nodes:
    """Return memory for the nodes of both sides, in `blocks` blocks together."""
    from stablegpu._density.nodes.formulas import OCTAVES, Nodes

    return Nodes(
        values=np.empty(blocks * NODES.block),
        weights=np.empty(blocks * NODES.block),
        moments=np.empty((blocks, NODES.terms)),
        largest=np.empty(blocks),
        beyond=np.empty(blocks),
        first=np.empty(2 * OCTAVES, np.int64),
        last=np.empty(2 * OCTAVES, np.int64),
    )


def _blocks_of(nodes: Nodes, begin: int, end: int) -> Nodes:
    """Return a range of blocks; the arrays by octave remain those of both sides."""
    indices = slice(begin * NODES.block, end * NODES.block)
    return nodes._replace(
        values=nodes.values[indices],
        weights=nodes.weights[indices],
        moments=nodes.moments[begin:end],
        largest=nodes.largest[begin:end],
        beyond=nodes.beyond[begin:end],
    )


def _fill_without_nodes(nodes: Nodes, block: int, octave: int) -> None:
    """Write the empty block of a half-line outside of the support."""
    from stablegpu._density.nodes.formulas import OCTAVES

    for array in _blocks_of(nodes, block, block + 1)[:5]:
        array[...] = 0.0
    nodes.first[octave : octave + OCTAVES] = block
    nodes.last[octave : octave + OCTAVES] = block


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
