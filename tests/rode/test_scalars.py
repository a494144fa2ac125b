"""Scalar functions in a user's loops and kernels give the numbers of `rode.normal`."""

import numpy as np
import pytest
from numba import njit, uint32, uint64

import rode
from hetero import philox
from rode import scalars
from rode._normals.ziggurat.tables import ziggurat
from rode.normals import STREAM

KEY, PATH, STRIPS = philox.key(1), np.uint32(3), 64
ONE = np.float32(1.0)


def fill_direct(out, table, k0, k1):
    for block in range(out.shape[1] // 4):
        a, b, c, d = scalars.words(uint32(block), uint32(0), PATH, uint32(STREAM), k0, k1)
        w, x, y, z = scalars.box_muller_float32(a, b, c, d, ONE)
        for row in range(3):
            one = scalars.inverse_float32(a) if row == 1 else scalars.rational_float32(a, False)
            out[row, 4 * block] = w if row == 0 else one
        out[0, 4 * block + 1], out[0, 4 * block + 2], out[0, 4 * block + 3] = x, y, z
        for j, word in enumerate((a, b, c, d)):
            i = uint64(4) * uint64(block) + uint64(j)
            out[3, 4 * block + j] = scalars.ziggurat_float32(
                i, word, word, word, table, PATH, uint32(STREAM), k0, k1
            )


def fill_double(out, table, k0, k1):
    for block in range(out.shape[1] // 2):
        a, b, c, d = scalars.words(uint32(block), uint32(0), PATH, uint32(STREAM), k0, k1)
        out[0, 2 * block], out[0, 2 * block + 1] = scalars.box_muller_float64(a, b, c, d, 1.0)
        out[1, 2 * block] = scalars.rational_float64(a, b, True)
        out[1, 2 * block + 1] = scalars.rational_float64(c, d, True)
        i = uint64(2) * uint64(block)
        out[2, 2 * block] = scalars.ziggurat_float64(
            i, a, b, b, table, PATH, uint32(STREAM), k0, k1
        )
        out[2, 2 * block + 1] = scalars.ziggurat_float64(
            i + uint64(1), c, d, d, table, PATH, uint32(STREAM), k0, k1
        )


def run(function, device, out, table):
    if device == "cpu":
        njit(error_model="numpy")(function)(out, table, *KEY)
        return out
    from numba import cuda

    on_device = cuda.to_device(out)
    cuda.jit(function)[1, 1](on_device, cuda.to_device(table), *KEY)
    return on_device.copy_to_host()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_are_those_of_the_fills(device, dtype):
    single = dtype == "float32"
    table = ziggurat(STRIPS).x.astype(dtype)
    out = np.zeros((4 if single else 3, 256), dtype)
    result = run(fill_direct if single else fill_double, device, out, table)
    methods = ("box-muller", "inverse", "rational", "ziggurat")
    methods = methods if single else ("box-muller", "rational-blending", "ziggurat")
    for row, method in zip(result, methods, strict=True):
        expected = rode.normal(
            256, dtype=dtype, method=method, rng=1, path=3, strips=STRIPS, device=device
        )
        compared = slice(None, None, 4) if method in ("inverse", "rational") else slice(None)
        np.testing.assert_allclose(
            row[compared], expected[compared], rtol=1e-6 if single else 1e-15
        )
