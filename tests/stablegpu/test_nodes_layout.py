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
def test_windows_sums_and_ends_of_the_sides(alpha, beta):
    """Windows are where a search in the sorted nodes puts them.

    Each block knows the weights from it on, and the moments before it; a side ends with an empty
    block.
    """
    _, _, nodes = evaluate.nodes_of(alpha, beta)
    octaves = np.arange(OCTAVES) + FIRST_OCTAVE
    for number, grid, first_block, blocks in sides(alpha, beta):
        inside = slice(first_block * NODES.block, (first_block + blocks) * NODES.block)
        values, weights = nodes.values[inside], nodes.weights[inside]
        assert (np.diff(values) >= 0.0).all()
        below = np.searchsorted(values, NODES.smallest_g * np.exp2(-octaves - 1), side="right")
        first = np.minimum(below // NODES.block, blocks - 1)
        with np.errstate(over="ignore"):
            above = np.searchsorted(values, grid.most_g * np.exp2(-octaves))
        last = np.maximum(-(-above // NODES.block), first + 1)
        rows = slice(number * OCTAVES, (number + 1) * OCTAVES)
        assert np.array_equal(nodes.first[rows] - first_block, first)
        assert np.array_equal(nodes.last[rows] - first_block, last)
        of_blocks = weights.reshape(blocks, NODES.block).sum(axis=1)
        beyond = nodes.beyond[first_block : first_block + blocks + 1]
        assert np.array_equal(beyond, np.cumsum(np.append(of_blocks, beyond[-1])[::-1])[::-1])
        before = np.append(0.0, np.cumsum(of_blocks))[:-1]
        moments = nodes.moments[first_block : first_block + blocks]
        np.testing.assert_allclose(moments[:, 0], before, rtol=1e-13)
        end = slice(inside.stop, inside.stop + NODES.block)
        assert not nodes.values[end].any()
        assert not nodes.weights[end].any()


def test_a_half_line_outside_of_the_support_has_one_empty_block():
    half_lines, ranges, nodes = evaluate.nodes_of(0.5, 1.0)
    assert half_lines[1].length <= 0.0
    block = nodes.largest.size - 1
    assert set(nodes.first[OCTAVES:]) == set(nodes.last[OCTAVES:]) == {block}
    assert ranges[1].lowest == np.inf
    assert nodes.beyond[block] == nodes.largest[block] == 0.0
    assert not nodes.moments[block].any()
