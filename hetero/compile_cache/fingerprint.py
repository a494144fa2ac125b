"""Fingerprints of functions: equal only if the functions compile to equal code.

A fingerprint is a hash of everything that Numba can see of a function, by value: its bytecode, the
values of its globals, closure and defaults, and so on for each function that it refers to. Nothing
is taken on trust because of its name: functions of NumPy and Numba are known by theirs only if the
library really has this object under this name, and the folder knows the library's version.

In three cases there is no fingerprint:

- values of unknown types, classes that Numba compiles (jitclass), ufuncs that it makes, modules
  with attributes computed on demand, and extensions of Numba (intrinsics, overloads) other than
  those of registered packages, whose files and what they import are hashed;
- functions that call themselves or each other: code that links such a function from disk would lack
  the symbol of the call;
- functions that were compiled before, with values that may have changed since: Numba goes on using
  what it compiled. `frozen` records what each compiled function was made of.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import sys
from collections.abc import Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core import types

from hetero.compile_cache import frozen, sources
from hetero.compile_cache.code_objects import PLAIN, Code, describe
from hetero.compile_cache.code_objects import hash_parts as _hash
from hetero.compile_cache.extensions import foreign_extension, is_from_numba
from hetero.compile_cache.known_objects import (
    LIBRARIES,
    is_dispatcher,
    is_kept_elsewhere,
    is_known_by_name,
    is_our_class,
    is_written_by_us,
    name_of,
    top_of,
)
from hetero.compile_cache.source_digests import digest_of
from hetero.compile_cache.type_fingerprints import UnknownTypeError, type_fingerprint
from hetero.numba_internals.dispatchers import compiler_of, is_for_cpu
from hetero.numba_internals.registries import Intrinsic, definition_of


class UnknownValueError(TypeError):
    """Compiled code may depend on a value in an unknown way, and so it is not kept."""


def fingerprint(*values: Any) -> str:
    """Return a hash of functions and of values that functions refer to.

    Raises UnknownValueError if a value has no representation that holds in all processes.
    """
    prints = Fingerprints()
    return _hash("values", *map(prints.of, values)).hex()


def fingerprint_of_results(*values: Any) -> str:
    """Return a hash that is equal only if functions compute the same, however they are compiled.

    Raises UnknownValueError if a value has no representation that holds in all processes, or if a
    function was compiled from other values than those of its globals now.
    """
    prints = Fingerprints(allow_new=True, is_for_code=False)
    return _hash("values", *map(prints.of, values)).hex()


class Fingerprints:
    """The fingerprints of functions at one moment; made anew for each question.

    Attributes
    ----------
    dispatchers : list of (dispatcher, bytes)
        All functions compiled by Numba that were met, with their fingerprints.
    """

    def __init__(self, allow_new: bool = False, is_for_code: bool = True) -> None:
        """Begin.

        `allow_new` is passed to `frozen.agrees`. `is_for_code=False` makes fingerprints that tell
        whether functions compute the same, and not whether code on disk may be linked: functions
        may be kept by Numba's own cache, and use plain functions and extensions of others.
        """
        self.dispatchers: list[tuple[Any, bytes]] = []
        self._allow_new = allow_new
        self._is_for_code = is_for_code
        self._known: dict[int, bytes] = {}  # of functions, by their ids
        self._open: list[Any] = []  # functions whose fingerprints are being made, the inner last
        self._is_free_of_extensions = False

    def of(self, value: Any) -> bytes:
        """Return the fingerprint of a value, which may be a function of Python or a compiled one.

        Raises UnknownValueError if it has none.
        """
        return self._function(value) if isinstance(value, FunctionType) else self._value(value)

    def of_type(self, kind: types.Type) -> bytes:
        """Return the fingerprint of a type of Numba; raise UnknownValueError if it has none."""
        try:
            return type_fingerprint(kind, self._value)
        except UnknownTypeError as error:
            raise UnknownValueError(str(error)) from error

    # ---- values ------------------------------------------------------------------------------

    def _value(self, value: Any) -> bytes:
        """Return the fingerprint of a value that a compiled function refers to."""
        kind = type(value)
        if write := PLAIN.get(kind):
            return write(value)
        if kind in (tuple, list, set, frozenset, dict, slice):
            return self._collection(kind, value)
        if kind is np.ndarray or (isinstance(value, np.generic) and kind.__module__ == "numpy"):
            return _array(np.asarray(value), kind)
        if isinstance(value, np.dtype):
            return _dtype(value)
        if isinstance(value, enum.Enum):
            return _hash("member", self._class(kind), value.name, self._value(value.value))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return _hash("named tuple", self._class(kind), *map(self._value, value))
        if isinstance(value, type):
            return self._class(value)
        return self._object(value)

    def _object(self, value: Any) -> bytes:
        """Return the fingerprint of a function or of another object that is not plain data."""
        # Numba resolves the call of a function by itself when it compiles the function. Code that
        # links a copy of it from disk has nothing to resolve the call with: LLVM ends the process.
        last = self._open[-1] if self._open else None
        if last is not None and (value is last or value is getattr(last, "py_func", None)):
            raise UnknownValueError(f"{value} calls itself")
        if is_dispatcher(value):
            return self._dispatcher(value)
        if isinstance(value, Intrinsic):
            return self._intrinsic(value)
        if isinstance(value, types.Type):
            return self.of_type(value)
        if is_known_by_name(value):
            return _hash("library", *name_of(value))
        if isinstance(value, FunctionType) and sources.is_ours(value.__code__.co_filename):
            return self._python_function(value)
        if isinstance(value, FunctionType) and not self._is_for_code:
            return self._function(value)
        if type(value) is functools.partial and not self._is_for_code:
            return _hash("partial", *map(self._value, (value.func, value.args, value.keywords)))
        if dataclasses.is_dataclass(value) and is_our_class(type(value)):
            fields = (getattr(value, field.name) for field in dataclasses.fields(value))
            return _hash("dataclass", self._class(type(value)), *map(self._value, fields))
        raise UnknownValueError(f"{value!r} has no fingerprint")

    def _collection(self, kind: type, value: Any) -> bytes:
        if kind is slice:
            value = value.start, value.stop, value.step
        elif kind is dict:
            value = [part for pair in value.items() for part in pair]
        parts = map(self._value, value)
        return _hash(kind.__name__, *(sorted(parts) if kind in (set, frozenset) else parts))

    def _class(self, kind: type) -> bytes:
        """Return the fingerprint of a class."""
        name = f"{kind.__module__}.{kind.__qualname__}"
        if issubclass(kind, enum.Enum):
            members = ((name, self._value(m.value)) for name, m in kind.__members__.items())
            return _hash("enumeration", name, *(part for pair in members for part in pair))
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return _hash("fields", name, *kind._fields, self._value(vars(kind)["_field_defaults"]))
        if is_known_by_name(kind) or issubclass(kind, BaseException):
            return _hash("class", name)
        if is_our_class(kind):
            return _hash("class", name, digest_of(str(sys.modules[kind.__module__].__file__)))
        raise UnknownValueError(f"the class {name} has no fingerprint")

    # ---- functions ---------------------------------------------------------------------------

    def _dispatcher(self, dispatcher: Any) -> bytes:
        """Return the fingerprint of a function compiled by Numba, with the options for it."""
        if id(dispatcher) in self._known:
            return self._known[id(dispatcher)]
        if self._is_for_code and is_kept_elsewhere(dispatcher):
            raise UnknownValueError(f"{dispatcher} is kept by Numba's own cache")
        with self._opened(dispatcher):
            options = {k: v for k, v in dispatcher.targetoptions.items() if k != "cache"}
            if options.get("link"):
                raise UnknownValueError(f"{dispatcher} links other files")
            result = _hash(
                "compiled",
                "for the CPU" if is_for_cpu(dispatcher) else type(dispatcher).__qualname__,
                self._value(options),
                self._value(compiler_of(dispatcher)),
                self._body(dispatcher.py_func),
            )
        if not frozen.agrees(dispatcher, result, self._allow_new):
            raise UnknownValueError(f"{dispatcher} was compiled before, perhaps from other values")
        self._known[id(dispatcher)] = result
        self.dispatchers.append((dispatcher, result))
        return result

    def _function(self, function: FunctionType) -> bytes:
        """Return the fingerprint of a function of Python that is to be compiled."""
        with self._opened(function):
            return self._body(function)

    def _body(self, function: FunctionType) -> bytes:
        """Return the fingerprint of the code of a function, and of what the code refers to."""
        self._check_extensions(function)
        code = describe(function.__code__)
        return _hash(
            "function",
            code.fingerprint,
            self._value(function.__defaults__),
            self._value(function.__kwdefaults__),
            *self._globals(function, code),
            *self._closure(function, code),
        )

    def _check_extensions(self, function: FunctionType) -> None:
        """Raise UnknownValueError if a user's function may use an extension of Numba."""
        if self._is_free_of_extensions or not self._is_for_code or is_written_by_us(function):
            return
        if name := foreign_extension():
            raise UnknownValueError(f"the extension {name} of Numba may be in use")
        self._is_free_of_extensions = True

    def _globals(self, function: FunctionType, code: Code) -> Iterator[bytes | str]:
        """Yield the names and fingerprints of the globals that a function may read."""
        space, builtins = function.__globals__, vars(sys.modules["builtins"])
        for name in code.names:
            if name in space or name in builtins:
                value = space[name] if name in space else builtins[name]
                try:
                    part = self._reference(value, code.names)
                except UnknownValueError:
                    if code.reads_global(name):
                        raise
                    continue  # the name is that of an attribute or a word in a text
                yield name
                yield part

    def _closure(self, function: FunctionType, code: Code) -> Iterator[bytes]:
        """Yield the fingerprints of the values in a function's closure."""
        for cell in function.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:
                yield b"empty"
                continue
            yield self._reference(value, code.names)

    def _reference(self, value: Any, names: Iterable[str]) -> bytes:
        """Return the fingerprint of what a function with these names in its code refers to."""
        if isinstance(value, ModuleType):
            return self._module(value, names, frozenset())
        return self._value(value)

    def _module(
        self, module: ModuleType, names: Iterable[str], passed: frozenset[ModuleType]
    ) -> bytes:
        """Return the fingerprint of those values of a module that have one of the names."""
        if module in passed:
            return _hash("module again", module.__name__)
        is_library = top_of(module.__name__) in LIBRARIES
        space = vars(module)
        is_certain = type(module) is ModuleType and "__getattr__" not in space
        if not (is_library or is_certain or sources.is_registered(top_of(module.__name__))):
            raise UnknownValueError(f"{module.__name__} computes its attributes on demand")
        parts: list[bytes | str] = []
        for name in names:
            if name not in space:
                continue
            value = space[name]
            if isinstance(value, ModuleType):
                parts += name, self._module(value, names, passed | {module})
            else:
                parts += name, self._attribute(value, is_library)
        return _hash("module", module.__name__, *parts)

    def _attribute(self, value: Any, is_of_library: bool) -> bytes:
        """Return the fingerprint of a module's attribute."""
        try:
            return self._value(value)
        except UnknownValueError:
            kind = type(value)
            if is_of_library and is_known_by_name(kind):  # an object that compiled code cannot use
                return _hash("object", f"{kind.__module__}.{kind.__qualname__}")
            raise

    # ---- Python that runs while Numba compiles -----------------------------------------------

    def _intrinsic(self, intrinsic: Intrinsic) -> bytes:
        """Return the fingerprint of an intrinsic of Numba or of a registered package."""
        function = definition_of(intrinsic)
        if is_from_numba(function):
            return _hash("library intrinsic", f"{function.__module__}.{function.__qualname__}")
        if not sources.is_ours(function.__code__.co_filename):
            raise UnknownValueError(f"{intrinsic} is an intrinsic of a package that is unknown")
        return _hash("intrinsic", self._python_function(function))

    def _python_function(self, function: FunctionType) -> bytes:
        """Return the fingerprint of a function of our sources, with that of the files it uses."""
        if id(function) in self._known:
            return self._known[id(function)]
        self._known[id(function)] = b"itself"
        cells = (cell.cell_contents for cell in function.__closure__ or ())
        result = _hash(
            "python",
            function.__qualname__,
            digest_of(function.__code__.co_filename),
            describe(function.__code__).fingerprint,
            self._value(function.__defaults__),
            *map(self._value, cells),
        )
        self._known[id(function)] = result
        return result

    @contextlib.contextmanager
    def _opened(self, function: Any) -> Iterator[None]:
        """Note that the fingerprint of a function is being made; refuse circles of functions."""
        if any(function is other for other in self._open):
            raise UnknownValueError(f"{function} and another function call each other")
        self._open.append(function)
        try:
            yield
        finally:
            self._open.pop()


def _array(array: np.ndarray, kind: type) -> bytes:
    if array.dtype.hasobject:
        raise UnknownValueError("an array of objects has no fingerprint")
    flags = array.flags
    layout = flags.c_contiguous, flags.f_contiguous, flags.aligned, flags.writeable
    data = np.ascontiguousarray(array).tobytes()
    return _hash("array", kind.__name__, _dtype(array.dtype), repr((array.shape, layout)), data)


def _dtype(dtype: np.dtype) -> bytes:
    fields = {} if dtype.fields is None else dtype.fields
    offsets = [(name, fields[name][1], _dtype(fields[name][0])) for name in dtype.names or ()]
    return _hash("dtype", dtype.str, repr((dtype.itemsize, dtype.alignment, dtype.shape, offsets)))
