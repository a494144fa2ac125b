"""Fingerprints of code objects, without what compilers ignore: lines, files, names of functions."""

from __future__ import annotations

import dis
import hashlib
import inspect
import struct
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, EllipsisType, NoneType
from typing import Any


@dataclass(frozen=True)
class Code:
    """A code object and the code objects within it.

    Attributes
    ----------
    fingerprint : bytes
    names : tuple of str
        All names of globals and attributes, and all texts: `getattr` may use them as names. Sorted.
    """

    fingerprint: bytes
    names: tuple[str, ...]
    _code: weakref.ref[CodeType]

    @cached_property
    def _globals(self) -> frozenset[str]:
        code = self._code()
        return frozenset() if code is None else frozenset(_globals_of(code))

    def reads_global(self, name: str) -> bool:
        """Return whether the code reads the global `name`."""
        return name in self._globals


def hash_parts(kind: str, *parts: bytes | str) -> bytes:
    """Return a hash of a sequence of texts and bytes."""
    total = hashlib.sha256(kind.encode())
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        total.update(b"%c%d:" % (b"b"[0] if isinstance(part, bytes) else b"s"[0], len(data)))
        total.update(data)
    return total.digest()


def describe(code: CodeType) -> Code:
    """Return the fingerprint of a code object and the names in it."""
    # Keyed by identity, because Python takes code objects for equal whose tables of exceptions
    # differ; the entry goes with the object, whose id another one may get.
    if id(code) not in _described:
        key = id(code)
        reference = weakref.ref(code, lambda _: _described.pop(key, None))
        names = tuple(sorted(_names_in(code)))
        _described[key] = Code(fingerprint_of(code), names, reference)
    return _described[id(code)]


_described: dict[int, Code] = {}


def fingerprint_of(code: CodeType) -> bytes:
    """Return the fingerprint of a code object and of those within it."""
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    return hash_parts(
        "code",
        repr(counts),
        code.co_code,
        code.co_exceptiontable,
        repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)),
        *map(_constant, _without_docstring(code)),
    )


def _without_docstring(code: CodeType) -> tuple[Any, ...]:
    """Return the constants of a code object; None stands for a docstring that is no other constant.

    That of a function is its first constant (from Python 3.13 on if a flag says so), and no
    instruction loads it. Those of modules and classes are loaded once, and stored as __doc__.
    """
    constants, names = code.co_consts, code.co_names
    operations, arguments = code.co_code[::2], code.co_code[1::2]
    is_function = code.co_flags & inspect.CO_NEWLOCALS and code.co_flags & inspect.CO_OPTIMIZED
    if is_function:
        has_docstring = sys.version_info < (3, 13) or code.co_flags & _HAS_DOCSTRING
        index, loads = 0 if has_docstring else -1, 0
    else:
        stored = names.index("__doc__") if "__doc__" in names else -1
        positions = (k for k, o in enumerate(operations) if o == _STORE and arguments[k] == stored)
        store = next(positions, 0)
        is_loaded = store > 0 and operations[store - 1] in _LOADS
        index, loads = arguments[store - 1] if is_loaded else -1, 1
    if not (0 <= index < len(constants) and isinstance(constants[index], str)):
        return constants
    # Arguments of more than 8 bits have several instructions: then one more load may be counted.
    uses = sum(a == index and o in _LOADS for o, a in zip(operations, arguments, strict=True))
    if uses != loads:
        return constants
    return (*constants[:index], None, *constants[index + 1 :])


_HAS_DOCSTRING = 0x4000000
"""The flag CO_HAS_DOCSTRING of Python 3.13."""

_LOADS = frozenset(dis.hasconst)
"""Operations that name a constant: LOAD_CONST, KW_NAMES, RETURN_CONST and their like."""

_STORE = dis.opmap["STORE_NAME"]


def _constant(value: Any) -> bytes:
    """Return the fingerprint of a constant in a code object."""
    if isinstance(value, CodeType):
        return fingerprint_of(value)
    if isinstance(value, tuple):
        return hash_parts("tuple", *map(_constant, value))
    if isinstance(value, frozenset):
        return hash_parts("frozenset", *sorted(map(_constant, value)))
    return PLAIN[type(value)](value)


def _float(value: float) -> bytes:
    return struct.pack("<cd", b"f", value)  # tells zeros and kinds of NaN apart


PLAIN: dict[type, Callable[[Any], bytes]] = {
    NoneType: lambda _: b"None",
    EllipsisType: lambda _: b"...",
    bool: lambda value: b"true" if value else b"false",
    int: lambda value: b"i" + hex(value).encode(),
    float: _float,
    complex: lambda value: b"c" + _float(value.real) + _float(value.imag),
    str: lambda value: hash_parts("str", value),
    bytes: lambda value: hash_parts("bytes", value),
}
"""Fingerprints of plain values, by their exact types: subclasses may hide something."""


def _names_in(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names_in(constant)
        elif isinstance(constant, str):
            names.add(constant)
    return names


def _globals_of(code: CodeType) -> set[str]:
    """Return the names of the globals that a code object and those within it read."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname in _READS_GLOBAL}
    inner = (_globals_of(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return names.union(*inner)


_READS_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
