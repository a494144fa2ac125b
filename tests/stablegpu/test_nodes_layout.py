"""Blocks, windows and sums of the nodes of a distribution, against NumPy's search and sums."""

import numpy as np
import pytest

from stablegpu._density.nodes import evaluate
from stablegpu._density.nodes.formulas import FIRST_OCTAVE, OCTAVES
from stablegpu._density.nodes.rule import NODES

DISTRIBUTIONS = [(1.5, 0.5), (0.7, -0.3), (1.9, 1.0), (0.5, 1.0), (1.1, 0.0), (0.05, 0.9), (2.0, 0)]


def sides(alpha, beta):
    """Yield number, grid, first block and number of blocks of each side with nodes."""
    half_lines, _, _ = evaluate.nodes_of(alpha, beta)
    first = 0
    for number, grid in enumerate(evaluate.choose_grids(half_lines)):
        if grid.blocks:
            yield number, grid, first, grid.blocks
        first += grid.blocks + 1


@pytest.mark.parametrize(("alpha", "beta"), DISTRIBUTIONS)
def test_windows_are_where_a_search_in_the_sorted_nodes_puts_them(alpha, beta):
    _, _, nodes = evaluate.nodes_of(alpha, beta)
    octaves = np.arange(OCTAVES) + FIRST_OCTAVE
    for number, grid, first_block, blocks in sides(alpha, beta):
        values = nodes.values[first_block * NODES.block :][: blocks * NODES.block]
        assert (np.diff(values) >= 0.0).all()
        below = np.searchsorted(values, NODES.smallest_g * np.exp2(-octaves - 1), side="right")
        first = np.minimum(below // NODES.block, blocks - 1)
        with np.errstate(over="ignore"):
            above = np.searchsorted(values, grid.most_g * np.exp2(-octaves))
        last = np.maximum(-(-above // NODES.block), first + 1)
        rows = slice(number * OCTAVES, (number + 1) * OCTAVES)
        assert np.array_equal(nodes.first[rows] - first_block, first)
        assert np.array_equal(nodes.last[rows] - first_block, last)


@pytest.mark.parametrize(("alpha", "beta"), DISTRIBUTIONS)
def test_each_block_knows_the_weights_from_it_on_and_the_moments_before_it(alpha, beta):
    _, _, nodes = evaluate.nodes_of(alpha, beta)
    for _, _, first_block, blocks in sides(alpha, beta):
        rows = slice(first_block * NODES.block, (first_block + blocks) * NODES.block)
        weights = nodes.weights[rows].reshape(blocks, NODES.block).sum(axis=1)
        beyond = nodes.beyond[first_block : first_block + blocks + 1]
        sums = np.cumsum(np.append(weights, beyond[-1])[::-1])[::-1]
        assert np.array_equal(beyond, sums)
        before = np.append(0.0, np.cumsum(weights))[:-1]
        moments = nodes.moments[first_block : first_block + blocks]
        np.testing.assert_allclose(moments[:, 0], before, rtol=1e-13)


@pytest.mark.parametrize(("alpha", "beta"), DISTRIBUTIONS)
def test_each_side_ends_with_an_empty_block(alpha, beta):
    half_lines, _, nodes = evaluate.nodes_of(alpha, beta)
    last = -1
    for grid in evaluate.choose_grids(half_lines):
        last += grid.blocks + 1
        rows = slice(last * NODES.block, (last + 1) * NODES.block)
        assert not nodes.values[rows].any()
        assert not nodes.weights[rows].any()


def test_a_half_line_outside_of_the_support_has_one_empty_block():
    half_lines, ranges, nodes = evaluate.nodes_of(0.5, 1.0)
    assert half_lines[1].length <= 0.0
    block = nodes.largest.size - 1
    assert set(nodes.first[OCTAVES:]) == set(nodes.last[OCTAVES:]) == {block}
    assert ranges[1].lowest == np.inf
    assert nodes.beyond[block] == nodes.largest[block] == 0.0
    assert not nodes.moments[block].any()
