"""Integers of two and three words, for both targets: tuples of uint64, the highest word first.

LLVM knows integers of any width and makes chains of additions with carry of them.
"""

import itertools

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero.jit import scalar

_word, _pair, _triple = ir.IntType(64), ir.IntType(128), ir.IntType(192)
_u = types.uint64
_PAIR, _TRIPLE = types.UniTuple(_u, 2), types.UniTuple(_u, 3)


def _join(builder, words, kind):
    """One integer of some words."""
    whole = builder.zext(words[-1], kind)
    for i, word in enumerate(reversed(words[:-1]), 1):
        whole = builder.or_(whole, builder.shl(builder.zext(word, kind), kind(64 * i)))
    return whole


def _split(context, builder, signature, whole):
    """The words of an integer."""
    kind, count = whole.type, signature.return_type.count
    words = [
        builder.trunc(builder.lshr(whole, kind(64 * i)) if i else whole, _word)
        for i in reversed(range(count))
    ]
    return context.make_tuple(builder, signature.return_type, words)


def _of_pairs(operation: str):
    """An instruction on two pairs, modulo 2^128."""

    @intrinsic
    def of_pairs(typing, a, b):
        def emit(context, builder, signature, values):
            a, b = (
                _join(builder, [builder.extract_value(v, i) for i in (0, 1)], _pair) for v in values
            )
            return _split(context, builder, signature, getattr(builder, operation)(a, b))

        return _PAIR(_PAIR, _PAIR), emit

    return of_pairs


plus, minus = _of_pairs("add"), _of_pairs("sub")


@intrinsic
def times(typing, a, k):
    """a k of a pair and a word, modulo 2^128; k < 2^32."""

    def emit(context, builder, signature, values):
        pair = [builder.extract_value(values[0], i) for i in (1, 0)]
        words = _products(builder, _halves(builder, pair), values[1])[:4]
        return context.make_tuple(builder, signature.return_type, _whole(builder, words)[::-1])

    return _PAIR(_PAIR, _u), emit


def _halves(builder, words) -> list:
    """32-bit halves of words, the lowest first, as words."""
    return [
        part
        for word in words
        for part in (
            builder.and_(word, _word(0xFFFFFFFF)),
            builder.lshr(word, _word(32)),
        )
    ]


def _products(builder, halves, k) -> list:
    """Halves of a product with k < 2^32: one wide multiplication of a GPU for each."""
    carry, found = _word(0), []
    k = builder.and_(k, _word(0xFFFFFFFF))
    for half in halves:
        total = builder.add(builder.mul(half, k), carry)
        found.append(builder.and_(total, _word(0xFFFFFFFF)))
        carry = builder.lshr(total, _word(32))
    return [*found, carry]


def _whole(builder, halves) -> list:
    """Words of their halves, the lowest first."""
    return [
        builder.or_(low, builder.shl(high, _word(32)))
        for low, high in zip(halves[::2], halves[1::2], strict=True)
    ]


@intrinsic
def horner(typing, t, x, shift, c):
    """floor(t x / 2^shift) + c, modulo 2^192, for signed t and c; x < 2^63 and 0 < shift < 64."""

    def emit(context, builder, signature, values):
        t, x, shift, c = values
        high, middle, low = (builder.extract_value(t, i) for i in range(3))
        wide, up = builder.zext(x, _pair), builder.sub(_word(64), shift)
        first = builder.mul(builder.zext(low, _pair), wide)
        second = builder.mul(builder.zext(middle, _pair), wide)
        second = builder.add(second, builder.lshr(first, _pair(64)))
        third = builder.mul(builder.sext(high, _pair), wide)
        third = builder.add(third, builder.lshr(second, _pair(64)))
        words = [builder.trunc(builder.lshr(third, _pair(64)), _word)]
        words += [builder.trunc(p, _word) for p in (third, second, first)]
        return _shifted_sum(context, builder, signature, words, shift, up, c)

    return _TRIPLE(_TRIPLE, _u, _u, _TRIPLE), emit


def _shifted_sum(context, builder, signature, words, shift, up, c):
    """Four words, the highest first, shifted right, and three added."""
    words = [
        builder.or_(builder.shl(a, up), builder.lshr(b, shift))
        for a, b in itertools.pairwise(words)
    ]
    c = [builder.extract_value(c, i) for i in range(3)]
    total = builder.add(_join(builder, words, _triple), _join(builder, c, _triple))
    return _split(context, builder, signature, total)


@intrinsic
def short_horner(typing, t, x, shift, c):
    """`horner` for x < 2^32: a fifth of its instructions on a GPU."""

    def emit(context, builder, signature, values):
        t, x, shift, c = values
        words = [builder.extract_value(t, i) for i in (2, 1, 0)]
        products = _products(builder, _halves(builder, words), x)
        # Two's complement: a negative t counts 2^192 too much.
        excess = builder.and_(builder.ashr(words[2], _word(63)), x)
        low = _whole(builder, products[:6])
        high = builder.sub(products[6], excess)
        up = builder.sub(_word(64), shift)
        return _shifted_sum(context, builder, signature, [high, *low[::-1]], shift, up, c)

    return _TRIPLE(_TRIPLE, _u, _u, _TRIPLE), emit


@scalar
def shifted(t, shift):
    """floor(t / 2^shift) modulo 2^128 of a signed triple, as a pair; shift > 0."""
    w2, w1, w0 = t
    sign = np.uint64(np.int64(w2) >> np.int64(63))
    left = np.uint64(shift)
    for _ in range(3):
        if left >= np.uint64(64):
            w2, w1, w0 = sign, w2, w1
            left -= np.uint64(64)
    if left == np.uint64(0):
        return w1, w0
    up = np.uint64(64) - left
    return (w2 << up) | (w1 >> left), (w1 << up) | (w0 >> left)
