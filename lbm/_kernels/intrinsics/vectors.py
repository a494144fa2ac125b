"""A type for compiled CPU code: a vector of numbers, which LLVM keeps in one register.

Numba's arrays carry no promise that they do not overlap, so LLVM's loop vectoriser gives up where a
loop reads and writes many arrays. A `Vector` leaves it nothing to decide. It has the operators
+ - * / and a sign, with other vectors of its type and with numbers, which are converted to its
dtype; `abs`, `math.sqrt`, and `type(v)(c)`, a vector with the number c in every lane. A formula
that is written with these compiles for numbers and for vectors alike. Comparisons are missing: the
lanes of a vector cannot take different branches.
"""

from __future__ import annotations

import math
import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    make_callable_template,
    signature,
)
from numba.extending import lower_builtin, register_model, type_callable


class Vector(types.Type):
    """Numba's type of a vector of `lanes` numbers of the type `dtype`."""

    def __init__(self, dtype: types.Number, lanes: int) -> None:
        self.dtype, self.lanes = dtype, lanes
        super().__init__(name=f"Vector({dtype}, {lanes})")


class VectorClass(types.Callable, types.Opaque):
    """Numba's type of `type(v)` of a vector v, which makes vectors from numbers."""

    def __init__(self, vector: Vector) -> None:
        self.vector = vector
        super().__init__(name=f"class({vector})")

    def get_call_type(self, context, args, kws):
        """Return nothing: `resolve___call__` below decides."""

    def get_call_signatures(self):
        """Return that there is no list of signatures."""
        return (), True

    def get_impl_key(self, sig):
        """Return the key of the implementation."""
        return type(self)

    @property
    def key(self):
        """The vector type, which identifies this one."""
        return self.vector


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    """Vectors are LLVM's."""

    def __init__(self, manager, kind):
        number = manager.lookup(kind.dtype).get_value_type()
        super().__init__(manager, kind, ir.VectorType(number, kind.lanes))


register_model(VectorClass)(models.OpaqueModel)


# ---- vectors from numbers --------------------------------------------------------------------


def splat(context, builder, kind, number, value):
    """Emit code for a vector of the type `kind` with the value of a number in every lane."""
    vector = context.get_value_type(kind)
    value = context.cast(builder, value, number, kind.dtype)
    if isinstance(value, ir.Constant):
        return ir.Constant(vector, [value] * kind.lanes)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.IntType(32)(0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), kind.lanes), [0] * kind.lanes)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), lanes)


def _as_vector(context, builder, kind, value_kind, value):
    return value if value_kind == kind else splat(context, builder, kind, value_kind, value)


@infer_getattr
class _VectorAttributes(AttributeTemplate):
    key = Vector

    def resolve___class__(self, vector):
        """Return the type of `type(vector)`."""
        return VectorClass(vector)


@infer_getattr
class _VectorClassAttributes(AttributeTemplate):
    key = VectorClass

    def resolve___call__(self, kind):
        """Return the type of the function that `type(vector)` is: it makes vectors of numbers."""

        def typer(value):
            if isinstance(value, types.Number | types.Boolean) or value == kind.vector:
                return kind.vector
            return None

        return types.Function(make_callable_template(key=kind.vector, typer=typer))


@lower_builtin(VectorClass, types.Any)
def _make_vector(context, builder, sig, args):
    return _as_vector(context, builder, sig.return_type, sig.args[0], args[0])


# ---- arithmetic ------------------------------------------------------------------------------


def _vector_of(arguments):
    """Return the type of the vectors among the arguments, if there is one."""
    kinds = {a for a in arguments if isinstance(a, Vector)}
    others = [a for a in arguments if not isinstance(a, Vector)]
    if len(kinds) != 1 or not all(isinstance(a, types.Number) for a in others):
        return None
    kind = kinds.pop()
    return kind if isinstance(kind.dtype, types.Float) else None


def _define_operator(symbol, emit):
    """Let Numba compile the operator `symbol` of vectors to the instruction that `emit` builds."""

    @infer_global(symbol)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            kind = _vector_of(args)
            if kind is None or kws:
                return None
            return signature(kind, *(types.unliteral(a) for a in args))

    def lower(context, builder, sig, args):
        kind = sig.return_type
        operands = (
            _as_vector(context, builder, kind, a, v) for a, v in zip(sig.args, args, strict=True)
        )
        return emit(builder, *operands)

    for pattern in ((Vector, Vector), (Vector, types.Number), (types.Number, Vector)):
        lower_builtin(symbol, *pattern)(lower)


for _symbol, _in_place, _emit in (
    (operator.add, operator.iadd, lambda builder, x, y: builder.fadd(x, y)),
    (operator.sub, operator.isub, lambda builder, x, y: builder.fsub(x, y)),
    (operator.mul, operator.imul, lambda builder, x, y: builder.fmul(x, y)),
    (operator.truediv, operator.itruediv, lambda builder, x, y: builder.fdiv(x, y)),
):
    _define_operator(_symbol, _emit)
    _define_operator(_in_place, _emit)


def _define_function(symbol, emit):
    """Let Numba compile a function of one vector."""

    @type_callable(symbol)
    def type_it(context):
        def typer(x):
            return x if isinstance(x, Vector) and isinstance(x.dtype, types.Float) else None

        return typer

    @lower_builtin(symbol, Vector)
    def lower(context, builder, sig, args):
        return emit(builder, args[0])


def llvm_suffix(vector: ir.VectorType) -> str:
    """Return what LLVM appends to the names of its functions of this type of vectors."""
    element = {"float": "f32", "double": "f64"}.get(str(vector.element), str(vector.element))
    return f"v{vector.count}{element}"


def _call_llvm(name: str):
    """Return a function that emits a call of LLVM's function `name` of one vector."""

    def emit(builder, x):
        full_name = f"llvm.{name}.{llvm_suffix(x.type)}"
        kind = ir.FunctionType(x.type, [x.type])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, full_name), [x])

    return emit


_define_function(operator.neg, lambda builder, x: builder.fneg(x))
_define_function(operator.pos, lambda builder, x: x)
_define_function(abs, _call_llvm("fabs"))
_define_function(math.sqrt, _call_llvm("sqrt"))
