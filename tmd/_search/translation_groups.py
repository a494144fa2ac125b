"""Groups of blocks that differ by constants: their translates; see `tmd._search.translates`."""

from __future__ import annotations

from collections.abc import Sequence

from tmd._search.blocks import Block
from tmd.formats import Run
from tmd.functions.function import Function, ball, working_precision

FEWEST_TRANSLATES, LEAST_TRANSLATE = 3, 1 << 20
"""Fewest blocks that are searched together, and their fewest arguments (not tuned)."""

CONSTANT_BITS = 512
"""Working precision of the constants by which translates differ; 192 bits are used."""

CommonParts = tuple[int, int, int, bool]


def find_translates(function: Function, blocks: Sequence[Block]) -> list[list[int]]:
    """Return the numbers of the blocks of each group that is worth a search together."""
    numbers_of: dict[CommonParts, list[int]] = {}
    for i, block in enumerate(blocks):
        if function.doubling and block.run.sign > 0 and block.run.count >= LEAST_TRANSLATE:
            numbers_of.setdefault(common_parts(block), []).append(i)
    groups = [group for group in numbers_of.values() if len(group) >= FEWEST_TRANSLATES]
    for group in groups:
        _check_doubling(function, blocks[group[0]].run, blocks[group[-1]].run)
    return groups


def common_parts(block: Block) -> CommonParts:
    """Return what a block has in common with its translates: all but the arguments' exponent."""
    return block.run.first, block.run.count, block.ulp, block.negative


def _check_doubling(function: Function, first: Run, last: Run) -> None:
    """Refuse a function of a user whose values do not differ as it says."""
    assert function.doubling is not None
    with working_precision(CONSTANT_BITS):
        if (accuracy := function.doubling().rel_accuracy_bits()) < CONSTANT_BITS // 2:
            raise ValueError(
                f"function {function.name}: doubling() has {accuracy} accurate bits, but must have "
                f"{CONSTANT_BITS // 2}: compute it anew in each call, at the precision of flint.ctx"
            )
        low, high = (function.enclosure(ball(run.argument(0))) for run in (first, last))
        if not (high - low).overlaps((last.quantum - first.quantum) * function.doubling()):
            raise ValueError(f"function {function.name}: doubling() must be f(2x) - f(x)")
