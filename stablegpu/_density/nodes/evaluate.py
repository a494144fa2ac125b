"""Nodes of Nolan's integrals for one (alpha, beta), and pdf, cdf and sf as sums over them."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hetero.arrays import Array, Workspace
from hetero.cuda.shared_allocation import empty_as_one
from stablegpu._density.half_line import HalfLine, half_lines
from stablegpu._density.nodes import loops
from stablegpu._density.nodes.rule import NODES
from stablegpu._density.outputs import output_arrays
from stablegpu._density.tails.heavy_series import (
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
    right, left = grids = choose_grids(both)
    nodes = _empty_nodes(right.blocks + left.blocks + 2)  # the last one of each side is empty
    numbers = right[:_NUMBERS], left[:_NUMBERS]
    build.lay_out(nodes, (right.blocks, left.blocks), numbers, both)
    node_ranges = [
        NodeRange(g.lowest, g.highest, g.limit, g.log_limit, k * OCTAVES, *g.tail)
        for k, g in enumerate(grids)
    ]
    return both, (node_ranges[0], node_ranges[1]), nodes


class _Grid(NamedTuple):
    """Nodes of one side as equidistant values of t, and the range of y that they serve."""

    start: float
    step: float
    limit: float  # V_0, or 0
    most_g: float
    blocks: int  # 0: the half-line is outside of the support
    lowest: float  # of y
    highest: float
    log_limit: float
    tail: tuple[float, ...]  # coefficients of the series of the tail


_NUMBERS = 4
"""Fields of a grid that `build.lay_out` needs: those before `blocks`."""

_OUTSIDE = _Grid(0.0, 0.0, 0.0, 0.0, 0, math.inf, math.inf, 0.0, (0.0,) * TAIL_TERMS)


class _Span(NamedTuple):
    """Range of y that the nodes of one side serve, and the values of log U at their ends."""

    lowest: float
    highest: float
    limit: float
    log_limit: float
    most_g: float
    light: bool
    log_us: tuple[float, float]  # at the top and at the bottom


def choose_grids(sides: tuple[HalfLine, HalfLine]) -> tuple[_Grid, _Grid]:
    """Return the values of t that matter for each side."""
    from stablegpu._density.nodes import build

    inside = [side for side in sides if side.length > 0.0]
    spans = [_find_span(side) for side in inside]
    # Both sides are solved at once; where one is outside of the support, the other one twice.
    first, last = spans[0], spans[-1]
    ends = build.solve_t(
        (first.log_us, last.log_us), (first.limit, last.limit), (inside[0], inside[-1])
    )
    solved = iter(zip(inside, spans, ends, strict=False))
    right, left = (_make_grid(*next(solved)) if side.length > 0.0 else _OUTSIDE for side in sides)
    return right, left


def _find_span(side: HalfLine) -> _Span:
    """Return the range of y of one side, and where in U the nodes that matter for it end."""
    alpha, kappa = side.alpha, side.kappa
    # Rising: V has a limit at zeta, else at infinity.
    light = side.left_angle == 0.0 if side.g_increases_with_theta else side.log_right == -math.inf
    log_limit = log_limit_of_light_tail(side)
    above = _most_g(side, light)
    lowest = 1e-17 * math.exp(math.lgamma(1.0 + 1.0 / alpha) - math.lgamma(1.0 + 2.0 / alpha))
    highest = math.exp((FAR_LOG - side.log_cos) / alpha)
    if light:
        vanishing = math.exp(max((math.log(NODES.vanished_g) - log_limit) / kappa, _LEAST_LOG_Y))
        lowest, highest = (
            (vanishing, highest) if side.g_increases_with_theta else (lowest, vanishing)
        )
    nearest, farthest = (highest, lowest) if side.g_increases_with_theta else (lowest, highest)
    top = math.log(above) - kappa * math.log(nearest)
    bottom = math.log(NODES.smallest_g) - kappa * math.log(farthest)
    limit = math.exp(log_limit) if light else 0.0
    return _Span(lowest, highest, limit, log_limit, above, light, (top, bottom))


def _make_grid(side: HalfLine, span: _Span, ends: tuple[float, float]) -> _Grid:
    """Return the nodes of one side between two values of t."""
    top, bottom = ends
    steepest = max(max(1.0, side.alpha) / abs(1.0 - side.alpha), 2.0 if span.light else 0.0)
    step = math.copysign(NODES.step / steepest, top - bottom)
    start = bottom - math.copysign(NODES.decay, step)
    blocks = math.ceil((top - start) / step) // NODES.block + 1
    return _Grid(
        start, step, span.limit, span.most_g, blocks,
        span.lowest, span.highest, span.log_limit, tail_coefficients(side),
    )  # fmt: skip


def _empty_nodes(blocks: int) -> Nodes:
    """Return memory for the nodes of both sides, in `blocks` blocks together."""
    from stablegpu._density.nodes.formulas import OCTAVES, Nodes

    shapes = (
        *((blocks * NODES.block,), (blocks * NODES.block,), (blocks, NODES.terms)),
        *((blocks,), (blocks,), (2 * OCTAVES,), (2 * OCTAVES,)),
    )
    parts = empty_as_one(shapes, (np.float64,) * 5 + (np.int64,) * 2)
    return Nodes(*parts)


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
