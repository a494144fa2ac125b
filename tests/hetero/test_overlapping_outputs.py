"""An `out` that shares memory with an input holds what a new array would hold."""

import numpy as np
import pytest

import rode
import stablegpu

NORMAL_TAILS = np.linspace(-3.0, 3.0, 3000)
PROBABILITIES = np.linspace(0.01, 0.99, 3000)
POSITIVE = np.linspace(0.1, 3.0, 3000)
DISTRIBUTION = stablegpu.stable(1.5, 0.5, device="cpu")


def _shifted(call, values):
    """Return what `call(x, out)` writes to memory that begins one element behind x."""
    memory = np.append(values, 0.0)
    assert call(memory[:-1], memory[1:]).base is memory
    return memory[1:]


@pytest.mark.parametrize(("call", "values"), [
    (lambda x, out: stablegpu.ndtr(x, out=out, device="cpu"), NORMAL_TAILS),
    (lambda x, out: stablegpu.expn(2, x, out=out, device="cpu"), POSITIVE),
    (lambda x, out: DISTRIBUTION.pdf(x, out=out), NORMAL_TAILS),
    (lambda x, out: DISTRIBUTION.ppf(x, out=out), PROBABILITIES),
    (lambda x, out: DISTRIBUTION.plan().cdf(x, out=out), NORMAL_TAILS),
    (lambda x, out: stablegpu.pdf(1.0, 1.5, 0.5, x, out=out, device="cpu"), NORMAL_TAILS),
    (lambda x, out: stablegpu.logsumexp(x.reshape(2, -1), axis=0, out=out[: x.size // 2],
                                        device="cpu"), NORMAL_TAILS),
    *((lambda x, out, method=method: rode.ornstein_uhlenbeck(
        None, 0.1, start=0.0, method=method, noise=x, out=out, device="cpu"), NORMAL_TAILS)
      for method in ("scan", "sweeps")),
])  # fmt: skip
def test_an_output_may_overlap_an_input(call, values):
    expected = np.append(values[1:], 0.0)
    part = call(values.copy(), out := np.empty_like(values))
    expected[: part.size] = out[: part.size]
    np.testing.assert_array_equal(_shifted(call, values), expected)


def test_an_output_may_be_the_input():
    for call, values in (
        (stablegpu.ndtr, NORMAL_TAILS),
        (DISTRIBUTION.logcdf, NORMAL_TAILS),
        (DISTRIBUTION.ppf, PROBABILITIES),
    ):
        expected, x = call(values), values.copy()
        assert call(x, out=x) is x
        np.testing.assert_array_equal(x, expected)


def test_two_outputs_in_the_same_memory_are_refused():
    memory = np.empty(4)
    with pytest.raises(ValueError, match="out must not hold arrays that share memory"):
        DISTRIBUTION.pdf_cdf(np.zeros(3), out=(memory[1:], memory[:-1]))


@pytest.mark.cuda
@pytest.mark.usefixtures("require_cuda")
def test_device_arrays_may_overlap():
    from numba import cuda

    for call, values in (
        (stablegpu.ndtr, NORMAL_TAILS),
        (stablegpu.log_ndtr, NORMAL_TAILS),
        (stablegpu.stable(1.5, 0.5).pdf, NORMAL_TAILS),
        (stablegpu.stable(1.5, 0.5).ppf, PROBABILITIES),
    ):
        memory = cuda.to_device(np.append(values, 0.0))
        expected = call(cuda.to_device(values)).copy_to_host()
        call(memory[:-1], out=memory[1:])
        np.testing.assert_array_equal(memory[1:].copy_to_host(), expected)
