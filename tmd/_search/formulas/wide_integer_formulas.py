"""Integers of 128, 192 and 256 bits: tuples of uint64, the highest word first.

LLVM has integers of any width and lowers them to chains of additions with carry.
"""

import itertools

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero.jit import scalar, scalar_internal

_word, _pair = ir.IntType(64), ir.IntType(128)
_u = types.uint64
_PAIR, _TRIPLE = types.UniTuple(_u, 2), types.UniTuple(_u, 3)


def _join_words(builder, words, kind):
    """Return the integer of type `kind` whose words are given, the highest first."""
    integer = builder.zext(words[-1], kind)
    for i, word in enumerate(reversed(words[:-1]), 1):
        integer = builder.or_(integer, builder.shl(builder.zext(word, kind), kind(64 * i)))
    return integer


def _split_words(context, builder, signature, integer):
    """Return the words of an integer as the tuple that `signature` returns."""
    kind, count = integer.type, signature.return_type.count
    words = [
        builder.trunc(builder.lshr(integer, kind(64 * i)) if i else integer, _word)
        for i in reversed(range(count))
    ]
    return context.make_tuple(builder, signature.return_type, words)


def _make_operation(instruction: str):
    """Make an intrinsic that applies an instruction of LLVM to two integers of as many words."""

    @intrinsic
    def combine(typing, a, b):
        def emit(context, builder, signature, values):
            words = range(signature.return_type.count)
            kind = ir.IntType(64 * len(words))
            a, b = (
                _join_words(builder, [builder.extract_value(v, i) for i in words], kind)
                for v in values
            )
            return _split_words(context, builder, signature, getattr(builder, instruction)(a, b))

        return a(a, a), emit

    return combine


add, subtract = _make_operation("add"), _make_operation("sub")


@intrinsic
def floor_shift(typing, t, bits):
    """Return floor(t / 2^bits) for a signed integer t that has more bits than that."""

    def emit(context, builder, signature, values):
        words = range(signature.return_type.count)
        kind = ir.IntType(64 * len(words))
        t = _join_words(builder, [builder.extract_value(values[0], i) for i in words], kind)
        shifted = builder.ashr(t, builder.zext(values[1], kind))
        return _split_words(context, builder, signature, shifted)

    return t(t, _u), emit


@intrinsic
def multiply(typing, a, k):
    """Return a k modulo 2^128 for a pair a and a word k < 2^32."""

    def emit(context, builder, signature, values):
        pair = [builder.extract_value(values[0], i) for i in (1, 0)]
        halves = _multiply_halves(builder, _split_halves(builder, pair), values[1])[:4]
        words = _combine_halves(builder, halves)[::-1]
        return context.make_tuple(builder, signature.return_type, words)

    return _PAIR(_PAIR, _u), emit


def _split_halves(builder, words) -> list:
    """Return the 32-bit halves of words, the lowest first, each in a word of its own."""
    return [
        half
        for word in words
        for half in (builder.and_(word, _word(0xFFFFFFFF)), builder.lshr(word, _word(32)))
    ]


def _multiply_halves(builder, halves, k) -> list:
    """Return the halves of a product with k < 2^32, the lowest first.

    Each half costs the GPU one wide multiplication.
    """
    carry, products = _word(0), []
    k = builder.and_(k, _word(0xFFFFFFFF))
    for half in halves:
        total = builder.add(builder.mul(half, k), carry)
        products.append(builder.and_(total, _word(0xFFFFFFFF)))
        carry = builder.lshr(total, _word(32))
    return [*products, carry]


def _combine_halves(builder, halves) -> list:
    """Return the words that consist of the given halves; both have the lowest first."""
    return [
        builder.or_(low, builder.shl(high, _word(32)))
        for low, high in zip(halves[::2], halves[1::2], strict=True)
    ]


@intrinsic
def horner(typing, t, x, shift, c):
    """Return floor(t x / 2^shift) + c, a step of Horner's scheme.

    t and c are signed integers of as many words, and so is the result, which is reduced modulo
    2^192 for three words; x < 2^63 and 0 < shift < 64.
    """

    def emit(context, builder, signature, values):
        t, x, shift, c = values
        wide, up = builder.zext(x, _pair), builder.sub(_word(64), shift)
        products = []
        for i in reversed(range(signature.return_type.count)):
            word = builder.extract_value(t, i)
            extended = builder.zext(word, _pair) if i else builder.sext(word, _pair)
            product = builder.mul(extended, wide)
            if products:
                product = builder.add(product, builder.lshr(products[-1], _pair(64)))
            products.append(product)
        words = [builder.trunc(builder.lshr(products[-1], _pair(64)), _word)]
        words += [builder.trunc(product, _word) for product in reversed(products)]
        return _shift_and_add(context, builder, signature, words, shift, up, c)

    return t(t, _u, _u, t), emit


def _shift_and_add(context, builder, signature, words, shift, up, c):
    """Shift words, the highest first, right by shift = 64 - up, and add c, which has one less."""
    kind = ir.IntType(64 * signature.return_type.count)
    words = [
        builder.or_(builder.shl(a, up), builder.lshr(b, shift))
        for a, b in itertools.pairwise(words)
    ]
    c = [builder.extract_value(c, i) for i in range(signature.return_type.count)]
    total = builder.add(_join_words(builder, words, kind), _join_words(builder, c, kind))
    return _split_words(context, builder, signature, total)


@intrinsic
def horner_u32(typing, t, x, shift, c):
    """Return the same as `horner` for x < 2^32, with a fifth of its instructions on a GPU."""

    def emit(context, builder, signature, values):
        t, x, shift, c = values
        words = [builder.extract_value(t, i) for i in (2, 1, 0)]
        products = _multiply_halves(builder, _split_halves(builder, words), x)
        # In two's complement a negative t counts 2^192 too much.
        excess = builder.and_(builder.ashr(words[2], _word(63)), x)
        low = _combine_halves(builder, products[:6])
        high = builder.sub(products[6], excess)
        up = builder.sub(_word(64), shift)
        return _shift_and_add(context, builder, signature, [high, *low[::-1]], shift, up, c)

    return _TRIPLE(_TRIPLE, _u, _u, _TRIPLE), emit


@scalar
def shift_right(t, shift):
    """Return floor(t / 2^shift) modulo 2^128 as a pair, for a signed triple t and shift > 0."""
    w2, w1, w0 = t
    sign = np.uint64(np.int64(w2) >> np.int64(63))
    remaining = np.uint64(shift)
    for _ in range(3):
        if remaining >= np.uint64(64):
            w2, w1, w0 = sign, w2, w1
            remaining -= np.uint64(64)
    if remaining == np.uint64(0):
        return w1, w0
    up = np.uint64(64) - remaining
    return (w2 << up) | (w1 >> remaining), (w1 << up) | (w0 >> remaining)


ZERO = (np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0))
"""0 in 256 bits, as all integers of the functions below."""


@scalar_internal
def load(words, k):
    """Return row k of an array as an integer."""
    return words[k, 0], words[k, 1], words[k, 2], words[k, 3]


@scalar_internal
def store(words, k, t):
    """Set row k of an array to an integer."""
    words[k, 0], words[k, 1], words[k, 2], words[k, 3] = t


@scalar_internal
def from_word(word):
    """Return an unsigned word as an integer."""
    return np.uint64(0), np.uint64(0), np.uint64(0), word


@scalar_internal
def is_negative(t):
    """Return whether a signed integer is below 0."""
    return t[0] >> np.uint64(63) != np.uint64(0)


@scalar_internal
def negate_if(t, negative):
    """Return -t if `negative`, else t."""
    return subtract(ZERO, t) if negative else t


@scalar_internal
def magnitude(t):
    """Return |t|."""
    return negate_if(t, is_negative(t))


@scalar_internal
def multiply_add(t, factor, c):
    """Return t factor + c for factor < 2^62."""
    return horner(t, factor + factor, np.uint64(1), c)


@scalar_internal
def shift_expansion(coefficients, position, bits, t):
    """Move an expansion by |position| / 2^bits of the unit of its variable, into the rows of t.

    t gets as many coefficients as it has rows. For a negative position the variable is mirrored, so
    that odd coefficients have the opposite sign.
    """
    x = np.uint64(abs(position))
    for j in range(t.shape[0]):
        store(t, j, ZERO)
    for i in range(coefficients.shape[0]):
        k = coefficients.shape[0] - 1 - i
        for j in range(min(t.shape[0] - 1, i), 0, -1):
            store(t, j, horner(load(t, j), x, bits, load(t, j - 1)))
        c = negate_if(load(coefficients, k), position < 0 and k % 2 == 1)
        store(t, 0, horner(load(t, 0), x, bits, c))
