"""Normal numbers in your own loops and kernels: scalar functions for `numba.njit` and `cuda.jit`.

    words(block, high, path, stream, k0, k1)     four Philox words (uint32) of a counter (uint32)
    box_muller_float32(a, b, c, d, sigma)        four N(0, sigma^2) numbers of a block of words
    box_muller_float64(a, b, c, d, sigma)        two
    box_muller_fast(a, b, c, d, sigma)           four of float32 by a GPU's own functions
    inverse_float32(a)                           one of a word, by polynomials of a logarithm
    rational_float32(a, blend)                   one of a word, AS 241; all branches with `blend`
    rational_float64(a, b, blend)                one of two words
    ziggurat_float32(i, a, a, s, table, path, stream, k0, k1)
    ziggurat_float64(i, a, b, b, table, path, stream, k0, k1)

The last two take the edges `rode._normals.ziggurat.tables.ziggurat(strips).x` in the number's
type. i is the position of the number in its sequence, a (and b) give its abscissa, s its strip and
sign; a rejected draw continues with its own words. With `rode.normals.STREAM` and the key
`hetero.philox.key(seed)`, block k gives the numbers of `rode.normal(.., rng=seed)` from 4 k
(float32) or 2 k (float64) on.
"""

from hetero.philox.formulas import philox10 as words
from rode._normals.box_muller_formulas import (
    box_muller_fast,
    box_muller_float32,
    box_muller_float64,
)
from rode._normals.inverse_formulas import inverse_float32, rational_float32, rational_float64
from rode._normals.ziggurat.formulas import draw_float32 as ziggurat_float32
from rode._normals.ziggurat.formulas import draw_float64 as ziggurat_float64

__all__ = [
    "box_muller_fast",
    "box_muller_float32",
    "box_muller_float64",
    "inverse_float32",
    "rational_float32",
    "rational_float64",
    "words",
    "ziggurat_float32",
    "ziggurat_float64",
]
