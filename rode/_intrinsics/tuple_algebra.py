"""Short vectors as tuples of numbers of one type, for both targets: every operation is unrolled."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _parts(builder, value, size):
    return [builder.extract_value(value, i) for i in range(size)]


def _pack(context, builder, kind, parts):
    return context.make_tuple(builder, kind, parts)


@intrinsic
def axpy(typing, a, x, y):
    """Return a x + y, each component rounded once.

    Tuples a and x stand for the sum of their products a_c x_c.
    """
    if not isinstance(x, types.UniTuple):
        return None
    if isinstance(a, types.UniTuple):

        def emit_sum(context, builder, signature, values):
            total = _parts(builder, values[2], y.count)
            columns = _parts(builder, values[1], x.count)
            for factor, column in zip(_parts(builder, values[0], a.count), columns, strict=True):
                parts = _parts(builder, column, y.count)
                pairs = zip(parts, total, strict=True)
                total = [builder.fma(factor, p, q) for p, q in pairs]
            return _pack(context, builder, y, total)

        return y(a, x, y), emit_sum
    if x.count != y.count:
        return None

    def emit(context, builder, signature, values):
        xs, ys = (_parts(builder, v, x.count) for v in values[1:])
        parts = [builder.fma(values[0], p, q) for p, q in zip(xs, ys, strict=True)]
        return _pack(context, builder, y, parts)

    return y(y.dtype, y, y), emit


@intrinsic
def scale(typing, a, x):
    """Return a x; tuples a and x stand for the sum of their products a_c x_c."""
    if isinstance(a, types.UniTuple):
        result = x.dtype

        def emit_sum(context, builder, signature, values):
            factors = _parts(builder, values[0], a.count)
            first, *others = (
                _parts(builder, c, result.count) for c in _parts(builder, values[1], x.count)
            )
            total = [builder.fmul(factors[0], p) for p in first]
            for factor, parts in zip(factors[1:], others, strict=True):
                total = [builder.fma(factor, p, q) for p, q in zip(parts, total, strict=True)]
            return _pack(context, builder, result, total)

        return result(a, x), emit_sum

    def emit(context, builder, signature, values):
        parts = [builder.fmul(values[0], p) for p in _parts(builder, values[1], x.count)]
        return _pack(context, builder, x, parts)

    return x(x.dtype, x), emit


@intrinsic
def double(typing, a):
    """Return 2 a, of a number or of each in a tuple."""

    def emit(context, builder, signature, values):
        if not isinstance(a, types.UniTuple):
            return builder.fadd(values[0], values[0])
        return _pack(
            context, builder, a, [builder.fadd(p, p) for p in _parts(builder, values[0], a.count)]
        )

    return a(a), emit


@intrinsic
def add(typing, x, y):
    """Return x + y."""

    def emit(context, builder, signature, values):
        xs, ys = (_parts(builder, v, x.count) for v in values)
        parts = [builder.fadd(p, q) for p, q in zip(xs, ys, strict=True)]
        return _pack(context, builder, x, parts)

    return x(x, x), emit


@intrinsic
def add_to_iterated_sums(typing, sums, o):
    """Return the iterated sums after one more value: F_d + F_(d-1), and F_0 + o."""

    def emit(context, builder, signature, values):
        old = _parts(builder, values[0], sums.count)
        parts = [builder.fadd(f, g) for f, g in zip(old, [values[1], *old[:-1]], strict=True)]
        return _pack(context, builder, sums, parts)

    return sums(sums, sums.dtype), emit


@intrinsic
def zeros(typing, like):
    """Return a tuple of zeros of the type of `like`."""

    def emit(context, builder, signature, values):
        zero = context.get_constant(like.dtype, 0.0)
        return _pack(context, builder, like, [zero] * like.count)

    return like(like), emit


@intrinsic
def cast(typing, x, like):
    """Return the numbers of the tuple x, or of the tuples in it, in the type of `like`."""
    kinds = list(x)
    if kinds and all(isinstance(kind, types.BaseTuple) for kind in kinds):
        inner = types.UniTuple(like, len(kinds[0]))

        def emit_columns(context, builder, signature, values):
            columns = []
            for column, kind in zip(_parts(builder, values[0], len(kinds)), kinds, strict=True):
                parts = zip(_parts(builder, column, len(kind)), kind, strict=True)
                cast_parts = [context.cast(builder, p, old, like) for p, old in parts]
                columns.append(_pack(context, builder, inner, cast_parts))
            return _pack(context, builder, types.UniTuple(inner, len(kinds)), columns)

        return types.UniTuple(inner, len(kinds))(x, like), emit_columns
    result = types.UniTuple(like, len(kinds))

    def emit(context, builder, signature, values):
        parts = [
            context.cast(builder, p, kind, like)
            for p, kind in zip(_parts(builder, values[0], len(kinds)), kinds, strict=True)
        ]
        return _pack(context, builder, result, parts)

    return result(x, like), emit


@intrinsic
def replace_component(typing, x, i, value):
    """Return x with component i set to `value`."""

    def emit(context, builder, signature, values):
        parts = []
        for k, part in enumerate(_parts(builder, values[0], x.count)):
            is_i = builder.icmp_signed("==", values[1], ir.IntType(64)(k))
            parts.append(builder.select(is_i, values[2], part))
        return _pack(context, builder, x, parts)

    return x(x, types.int64, x.dtype), emit


@intrinsic
def walk_from_zero(typing, noise, mu):
    """Return O after each number of `noise`, from O = 0: mu o + noise, each rounded once.

    The digits of the drift do not matter for few steps; for many they do, see `advance`.
    """

    def emit(context, builder, signature, values):
        first, *others = _parts(builder, values[0], noise.count)
        parts = [first]
        for n in others:
            parts.append(builder.fma(values[1], parts[-1], n))
        return _pack(context, builder, noise, parts)

    return noise(noise, noise.dtype), emit


def _elements(context, builder, kind, array, column, size):
    """Return the addresses of the first elements of a column of an array."""
    parts = context.make_array(kind)(context, builder, array)
    for i in range(size):
        row = context.get_constant(types.intp, i)
        yield cgutils.get_item_pointer(context, builder, kind, parts, [row, column])


@intrinsic
def read_column(typing, array, column, like):
    """Return the first numbers of a column as a tuple of the length of `like`."""
    result = types.UniTuple(array.dtype, len(like))

    def emit(context, builder, signature, values):
        column = context.cast(builder, values[1], signature.args[1], types.intp)
        places = _elements(context, builder, array, values[0], column, len(like))
        return _pack(context, builder, result, [builder.load(place) for place in places])

    return result(array, column, like), emit


@intrinsic
def write_column(typing, values, array, column):
    """Store a tuple as the first numbers of a column."""

    def emit(context, builder, signature, arguments):
        column = context.cast(builder, arguments[2], signature.args[2], types.intp)
        places = _elements(context, builder, array, arguments[1], column, values.count)
        for place, part in zip(places, _parts(builder, arguments[0], values.count), strict=True):
            builder.store(part, place)
        return context.get_dummy_value()

    return types.void(values, array, column), emit


@intrinsic
def choose(typing, condition, x, y):
    """Return x where the condition is true, else y, without a branch."""
    if x != y or not isinstance(condition, types.Boolean):
        return None

    def emit(context, builder, signature, values):
        xs, ys = (_parts(builder, v, x.count) for v in values[1:])
        parts = [builder.select(values[0], p, q) for p, q in zip(xs, ys, strict=True)]
        return _pack(context, builder, x, parts)

    return x(condition, x, x), emit


@intrinsic
def multiply_rows(typing, matrix, scales, x, like):
    """Return a matrix, row by row in a tuple, times the columns of x, each row times its scale.

    x has as many numbers for each column of the matrix as `like`, and so has the result for each
    row: component c of row k is scales[k] times the sum of matrix[k, j] x[j, c].
    """
    size, rows = like.count, scales.count
    columns = x.count // size
    result = types.UniTuple(x.dtype, rows * size)

    def emit(context, builder, signature, values):
        factors = _parts(builder, values[0], matrix.count)
        units, numbers = _parts(builder, values[1], rows), _parts(builder, values[2], x.count)
        parts = []
        for row in range(rows):
            for c in range(size):
                total = builder.fmul(factors[row * columns], numbers[c])
                for j in range(1, columns):
                    total = builder.fma(factors[row * columns + j], numbers[j * size + c], total)
                parts.append(builder.fmul(units[row], total))
        return _pack(context, builder, result, parts)

    return result(matrix, scales, x, like), emit
