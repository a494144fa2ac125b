"""Equality of results by value, also where they hold arrays, NaN or frames' labels.

Dataclasses and named tuples compare their fields by `==`, which is an array for arrays and False
for NaN. `equal_by_value` gives a class an equality that holds for every copy of an object, whether
it was pickled, copied, or computed again with the same numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from numbers import Number
from typing import Any, TypeVar

import numpy as np

from hetero.devices import device_of

Class = TypeVar("Class", bound=type)


def equal_by_value(kind: Class) -> Class:
    """Let the objects of a class be equal if their fields are, as `are_equal` says.

    A decorator for dataclasses with ``eq=False``, named tuples, and other classes, whose attributes
    count as fields. A dataclass's fields with ``compare=False`` do not count. Objects stay hashable
    (named tuples if their fields are): equal ones have equal hashes.
    """

    def is_equal(self: Any, other: object) -> Any:
        if type(self) is not type(other) and not (
            isinstance(self, tuple) and type(other) is tuple  # a named tuple is a tuple, too
        ):
            return NotImplemented
        return self is other or _fields_are_equal(self, other)

    def is_unequal(self: Any, other: object) -> Any:
        result = is_equal(self, other)
        return result if result is NotImplemented else not result

    def hash_of(self: Any) -> int:
        plain = (v for v in _fields(self) if isinstance(v, str | Number) and not _is_nan(v))
        return hash((type(self), *plain))

    methods: dict[str, Any] = {"__eq__": is_equal, "__ne__": is_unequal}
    methods["__hash__"] = tuple.__hash__ if issubclass(kind, tuple) else hash_of
    for name, method in methods.items():
        setattr(kind, name, method)
    return kind


def are_equal(a: Any, b: Any) -> bool:
    """Return whether two values are the same: NaN equals NaN, and types of arrays count.

    Arrays are equal if their shapes, dtypes and elements are; those on GPUs are copied to the host.
    Mappings and sequences are compared by their elements, and objects by their fields if their
    class is a dataclass.
    """
    if a is b:
        return True
    if _is_array(a) or _is_array(b):
        return _is_array(a) and _is_array(b) and _arrays_are_equal(a, b)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(are_equal(value, b[key]) for key, value in a.items())
    if isinstance(a, tuple | list) or dataclasses.is_dataclass(a):
        return type(a) is type(b) and _fields_are_equal(a, b)
    if hasattr(a, "equals"):  # an index or a series of a frame
        return type(a) is type(b) and bool(a.equals(b))
    return (_is_nan(a) and _is_nan(b)) or bool(a == b)


def _fields_are_equal(a: Any, b: Any) -> bool:
    """Compare two objects of one class, or two sequences, field by field."""
    first, second = list(_fields(a)), list(_fields(b))
    return len(first) == len(second) and all(map(are_equal, first, second))


def _fields(value: Any) -> Iterable[Any]:
    """Return the fields of an object that its equality compares."""
    if isinstance(value, tuple | list):
        return value
    if dataclasses.is_dataclass(value):
        return (getattr(value, f.name) for f in dataclasses.fields(value) if f.compare)
    return vars(value).values()


def _is_array(value: Any) -> bool:
    """Return whether a value is an array of NumPy, or one on a GPU."""
    return isinstance(value, np.ndarray) or device_of(value) is not None


def _arrays_are_equal(a: Any, b: Any) -> bool:
    """Return whether two arrays have the same shape, dtype and elements."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        from hetero.arrays import on_host

        a, b = on_host(a), on_host(b)
    if a.dtype == object:
        return all(map(are_equal, a.flat, b.flat))
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fcmM")


def _is_nan(value: Any) -> bool:
    """Return whether a value is a number that is not equal to itself."""
    return isinstance(value, Number) and bool(value != value)
