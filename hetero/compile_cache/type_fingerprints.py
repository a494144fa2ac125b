"""Fingerprints of Numba's types, of which signatures are made."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numba.core.types

from hetero.compile_cache import sources
from hetero.compile_cache.code_objects import hash_parts
from hetero.compile_cache.source_digests import digest_of

types: Any = numba.core.types  # its names are not known to type checkers

_TOLD_BY_NAME = (
    *("Integer", "Float", "Complex", "Boolean", "NoneType", "UnicodeType", "Bytes"),
    *("IntegerLiteral", "BooleanLiteral", "StringLiteral", "SliceType", "RangeType"),
    *("NumberClass", "DType", "NPDatetime", "NPTimedelta", "CharSeq", "UnicodeCharSeq", "Record"),
)
"""Classes of Numba's types whose names tell everything about them."""


class UnknownTypeError(TypeError):
    """Compiled code may depend on a type in an unknown way."""


def type_fingerprint(kind: Any, of_value: Callable[[Any], bytes]) -> bytes:
    """Return the fingerprint of a type of Numba.

    `of_value` returns the fingerprint of a value or a class. Raises UnknownTypeError for types
    whose names do not tell everything, such as compiled classes (jitclass).
    """

    def again(*inner: Any) -> list[bytes]:
        return [type_fingerprint(t, of_value) for t in inner]

    name = type(kind).__name__
    top = type(kind).__module__.partition(".")[0]
    if top == "numba" and name in _TOLD_BY_NAME:
        return hash_parts("type", name, str(kind))
    if sources.is_registered(top):
        file = str(sys.modules[type(kind).__module__].__file__)
        return hash_parts("type", name, str(kind), digest_of(file))
    if isinstance(kind, types.Array):
        return hash_parts("array type", name, str(kind), *again(kind.dtype))
    if isinstance(kind, types.NamedTuple | types.NamedUniTuple):
        return hash_parts("named", of_value(kind.instance_class), *again(*kind))
    if isinstance(kind, types.BaseTuple):
        return hash_parts("tuple type", name, *again(*kind))
    if isinstance(kind, types.CPointer):
        return hash_parts("pointer", *again(kind.dtype))
    if isinstance(kind, types.Optional):
        return hash_parts("optional", *again(kind.type))
    if isinstance(kind, types.Omitted):
        return hash_parts("omitted", of_value(kind.value))
    raise UnknownTypeError(f"{kind} is a type whose name may not tell everything")
