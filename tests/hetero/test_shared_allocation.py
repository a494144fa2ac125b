"""Arrays that share one allocation in host memory."""

import numpy as np
import pytest

from hetero.cuda.shared_allocation import ALIGNMENT, empty_as_one, offsets_in_one, pack_as_one

SHAPES = ((3,), (2, 5), (0,), (1,))
DTYPES = (np.float64, np.int64, np.float64, np.int8)


def fill(arrays):
    """Give every array numbers of its own."""
    for k, array in enumerate(arrays):
        array[...] = 10 * k + np.arange(array.size).reshape(array.shape)


def test_arrays_do_not_overlap_and_lie_where_the_offsets_say():
    arrays = empty_as_one(SHAPES, DTYPES)
    fill(arrays)
    memory, offsets = offsets_in_one(arrays)
    for k, (array, offset) in enumerate(zip(arrays, offsets, strict=True)):
        assert (array.shape, array.dtype) == (SHAPES[k], DTYPES[k])
        assert offset % ALIGNMENT == 0
        part = memory[offset : offset + array.nbytes].view(array.dtype).reshape(array.shape)
        np.testing.assert_array_equal(part, array)
        np.testing.assert_array_equal(array.ravel(), 10 * k + np.arange(array.size))


@pytest.mark.parametrize("reverse", [False, True])
def test_tables_are_packed_if_they_share_no_memory(reverse):
    ours = empty_as_one(SHAPES, DTYPES)
    fill(ours)
    if reverse:
        ours.reverse()
    for arrays in (ours, [array.copy() for array in ours]):
        memory, starts = pack_as_one(arrays)
        for array, start in zip(ours, starts, strict=True):
            part = memory[start : start + array.nbytes].view(array.dtype)
            np.testing.assert_array_equal(part, array.ravel())
