"""Fingerprints of functions: equal in all processes if, and only if, they compile to equal code.

The folder of compiled code covers the sources of one package and of `hetero`, so a function that
is defined there is known by its name and by the values in its closure. A function from elsewhere,
such as a user's right-hand side or one made from generated source, is known by its bytecode and by
all values that the bytecode refers to, also those in modules of the user.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from hetero.compile_cache.folder import SOURCES

_LIBRARIES = ("numba", "numpy", "math", "cmath", "llvmlite", "builtins", "operator", "typing")
"""Packages whose functions and classes are known by their names: the folder knows the versions."""

_ADDRESS = re.compile(r"\bat 0x[0-9a-f]+|\b0x[0-9a-f]{6,}")


class UnknownValueError(TypeError):
    """Compiled code may depend on a value in an unknown way, and so it is not kept."""


def fingerprint(*values: Any, covered: Collection[str] = ()) -> str:
    """Return a hash of functions and of values that functions refer to.

    `covered` names the packages whose sources the folder covers. Raises UnknownValueError if a
    value has no representation that holds in all processes.
    """
    writer = _Writer(covered)
    for value in values:
        writer.add(value)
    return writer.total.hexdigest()


class _Writer:
    """Feeds values to a hash."""

    def __init__(self, covered: Collection[str]) -> None:
        self.total = hashlib.sha256()
        self._covered = covered
        self._modules: list[ModuleType] = []  # modules of users met so far
        self._functions: dict[int, int] = {}  # number of each function met so far, by id

    def add(self, value: Any) -> None:
        """Add a value of any kind."""
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            self._write(type(value).__name__, repr(value))
        elif isinstance(value, np.ndarray | np.generic):
            self._add_array(np.asarray(value))
        elif isinstance(value, np.dtype):
            self._write("dtype", repr(value.descr))
        elif isinstance(value, tuple | list):
            self._add_class(type(value))
            self._add_all(value)
        elif isinstance(value, dict):
            self._add_all(part for pair in value.items() for part in pair)
        elif isinstance(value, set | frozenset):
            self._write("set", repr(sorted(fingerprint(v, covered=self._covered) for v in value)))
        elif isinstance(value, FunctionType):
            self._add_function(value)
        elif isinstance(value, ModuleType):
            self._add_module(value, set())
        elif isinstance(value, type):
            self._add_class(value)
        else:
            self._add_object(value)

    def _add_object(self, value: Any) -> None:
        """Add a value that is not plain Python or NumPy data."""
        kind = type(value)
        if hasattr(value, "py_func"):  # compiled by Numba
            options = {k: v for k, v in value.targetoptions.items() if k != "cache"}
            self._write("compiled", repr(sorted((k, _stable_text(v)) for k, v in options.items())))
            self.add(value.py_func)
        elif hasattr(value, "_defn"):  # an intrinsic
            self.add(value._defn)
        elif isinstance(value, functools.partial):
            self._add_all((value.func, value.args, value.keywords))
        elif isinstance(value, BuiltinFunctionType | np.ufunc):
            self._write("builtin", f"{getattr(value, '__module__', '')}.{value.__name__}")
        elif dataclasses.is_dataclass(value):
            self._add_class(kind)
            self._add_all(getattr(value, field.name) for field in dataclasses.fields(value))
        elif kind.__module__.partition(".")[0] in _LIBRARIES:
            self._write(f"{kind.__module__}.{kind.__qualname__}", _stable_text(value))
        else:
            raise UnknownValueError(f"{value!r} has no fingerprint")

    def _add_all(self, values: Iterable) -> None:
        values = list(values)
        self._write("items", str(len(values)))
        for value in values:
            self.add(value)

    def _add_array(self, array: np.ndarray) -> None:
        if array.dtype.hasobject:
            raise UnknownValueError("an array of objects has no fingerprint")
        self._write("array", f"{array.dtype.descr} {array.shape}")
        self.total.update(np.ascontiguousarray(array).tobytes())

    def _add_class(self, kind: type) -> None:
        self._write("class", f"{kind.__module__}.{kind.__qualname__}")
        if hasattr(kind, "_fields"):
            self._write("fields", repr(kind._fields))
        elif issubclass(kind, enum.Enum):
            self._add_all((member.name, member.value) for member in kind)

    def _add_module(self, module: ModuleType, names: set[str]) -> None:
        """Add a module, and those of its values that a function may read by one of `names`."""
        self._write("module", module.__name__)
        top = module.__name__.partition(".")[0]
        if top not in _LIBRARIES and top not in self._covered and module not in self._modules:
            self._modules.append(module)
            for name in sorted(names & vars(module).keys()):
                self._write("attribute", name)
                self._add_referenced(vars(module)[name], names)

    def _add_referenced(self, value: Any, names: set[str]) -> None:
        """Add what a function refers to; `names` are all names in its bytecode."""
        if isinstance(value, ModuleType):
            self._add_module(value, names)
        else:
            self.add(value)

    def _add_function(self, function: FunctionType) -> None:
        """Add a function: its name and closure, and its code unless the folder covers its file."""
        if id(function) in self._functions:
            self._write("function again", str(self._functions[id(function)]))
            return
        self._functions[id(function)] = len(self._functions)
        module = function.__module__ or ""  # a function made by `exec` may have none
        self._write("function", f"{module}.{function.__qualname__}")
        if module.partition(".")[0] in _LIBRARIES:
            return
        names = _names_in(function.__code__)
        if self._is_covered(function):
            self._write("line", str(function.__code__.co_firstlineno))
        else:
            self._add_code(function.__code__)
            for name in sorted(names & function.__globals__.keys()):
                self._write("global", name)
                self._add_referenced(function.__globals__[name], names)
        self.add(function.__defaults__)
        for cell in function.__closure__ or ():
            self._add_referenced(cell.cell_contents, names)

    def _is_covered(self, function: Callable) -> bool:
        """Return whether a function is defined in a file that the folder covers."""
        top = (function.__module__ or "").partition(".")[0]
        file = Path(function.__code__.co_filename)
        return top in self._covered and file.is_relative_to(SOURCES / top)

    def _add_code(self, code: CodeType) -> None:
        self.total.update(code.co_code)
        names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
        self._write("code", f"{code.co_argcount} {code.co_flags} {names}")
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._add_code(constant)
            else:
                self.add(constant)

    def _write(self, kind: str, text: str) -> None:
        data = text.encode()
        self.total.update(f"{kind} {len(data)}:".encode() + data)


def _stable_text(value: object) -> str:
    """Return `repr(value)`; raise UnknownValueError if it has an address of this process."""
    text = repr(value)
    if _ADDRESS.search(text):
        raise UnknownValueError(f"{text} names an address")
    return text


def _names_in(code: CodeType) -> set[str]:
    """Return the names of globals and attributes in a code object and those within it."""
    inner = (_names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)
