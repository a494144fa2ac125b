"""Kernels of tmd.

Those of phases 1 and 2 are made for each Boolean test: tests/tmd/test_kernel_budgets.py has them.
"""

from numba import typeof, types

from kernel_budgets.budget import array, f8, read_budgets, u4, u8
from tmd._exhaust.chunks import Chunks
from tmd._search.formulas.line_formulas import Shape, SuperBlocks
from tmd._search.gpu.kernels import Candidates, Pieces

SHAPE = typeof(Shape(40, 16, 12, 9))
COUNTS, WORDS = array(types.int64), array(u8)

KERNELS = read_budgets(
    "tmd",
    """
    _search.gpu.kernels.list_candidates 128! u8*** pieces u8* u8* shape candidates
    _search.gpu.translates.count_by_member 40 u8* i8* i8 u8 u8 i8**
    _search.gpu.translates.test_translates 104 super_blocks shape f8 i8 u8 u8 u8* i8*
    _exhaust.cuda.fill_arguments 32! u4* f4*
    _exhaust.cuda.judge_all 64 segments chunks f4** i4* i8* u4* f8**
    _periodic.cuda.search_all 160 f8** i8** i8* i8* i8*** i8**
    _periodic.cuda.search_all_in_float32 120 f8** i8** i8* i8*** i8** i8**
    """,
    pieces=types.NamedTuple((WORDS, types.boolean, u8, u8), Pieces),
    shape=SHAPE,
    super_blocks=types.NamedTuple((array(u8, 3), WORDS, WORDS, array(f8)), SuperBlocks),
    segments=types.Tuple((COUNTS, array(f8, 2), array(f8, 2), array(u8, 2), array(f8))),
    chunks=types.NamedTuple((COUNTS, array(u4), COUNTS), Chunks),
    candidates=types.NamedTuple((COUNTS, WORDS, WORDS), Candidates),
)

NUMBERS = {float: f8}
"""Numba's type of a test's numbers; for words it is u8."""


def phase_1_signature(number) -> tuple:
    """Return the argument types of phase 1 for a test on numbers of this type."""
    super_blocks = types.NamedTuple((array(u8, 3), WORDS, WORDS, array(number)), SuperBlocks)
    return super_blocks, SHAPE, number, u8, WORDS, COUNTS


def phase_2_signature(number) -> tuple:
    """Return the argument types of phase 2 for a test on numbers of this type."""
    return array(u8, 3), WORDS, WORDS, array(number), SHAPE, number, WORDS, COUNTS
