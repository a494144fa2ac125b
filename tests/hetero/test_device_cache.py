"""Scratch memory that stays on a GPU from call to call."""

import numpy as np
import pytest

from hetero.cuda.device_cache import LARGEST_REUSED, scratch, small_scratch, zeros_in_scratch
from hetero.cuda.driver import cuda

pytestmark = [pytest.mark.cuda, pytest.mark.simulator]


def test_scratch_of_one_name_is_the_same_memory_in_any_shape(require_cuda):
    first = scratch("a test's memory", (2, 3), np.float64, 0)
    assert first.shape == (2, 3)
    first.copy_to_device(np.arange(6.0).reshape(2, 3))
    assert scratch("a test's memory", (2, 3), np.float64, 0) is first
    flat = scratch("a test's memory", 4, np.float64, 0)
    assert flat.copy_to_host().tolist() == [0.0, 1.0, 2.0, 3.0]
    assert scratch("a test's memory", (7, 1), np.float64, 0).shape == (7, 1)


def test_scratch_on_a_stream_and_large_memory_are_new(require_cuda):
    stream = cuda.stream()
    pair = [scratch("a test's stream", (2, 1), np.int64, stream) for _ in range(2)]
    assert pair[0] is not pair[1]
    assert pair[0].shape == (2, 1)
    shape = (2, LARGEST_REUSED // 16 + 1)
    large = [small_scratch("a test's large memory", shape, np.float64, 0) for _ in range(2)]
    assert large[0] is not large[1]
    assert large[0].shape == shape


def test_zeros_overwrite_what_the_memory_held(require_cuda):
    scratch("a test's zeros", 3, np.int64, 0).copy_to_device(np.array([7, 8, 9]))
    zeros = zeros_in_scratch("a test's zeros", 3, np.int64, 0)
    assert zeros.copy_to_host().tolist() == [0, 0, 0]
