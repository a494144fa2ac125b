"""Values in files without pickles, which could run code: NumPy's arrays beside JSON.

A value consists of None, numbers, texts, arrays, lists, tuples, ranges and mappings, and of objects
of the classes that the reader names: dataclasses, which are made anew from their fields.
"""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any
from zipfile import BadZipFile

import numpy as np

_KIND = "kind"
"""Key of a mapping in the JSON that stands for something else than a mapping."""

_TEXT = "json"
"""Name of the array with the JSON; the others are numbered."""


def encode(value: Any, classes: Sequence[type] = ()) -> memoryview:
    """Return a value as the content of a .npz file.

    Raises
    ------
    TypeError
        The value has a part that cannot be stored.
    """
    arrays: list[np.ndarray] = []

    def encode_part(part: Any) -> Any:
        if part is None or type(part) in (bool, int, float, str):
            return part
        if isinstance(part, np.ndarray | np.generic):
            if part.dtype.hasobject:
                raise TypeError("arrays of objects cannot be stored")
            arrays.append(np.asarray(part))
            kind = "array" if isinstance(part, np.ndarray) else "scalar"
            return {_KIND: kind, "number": len(arrays) - 1}
        if isinstance(part, list):
            return [encode_part(item) for item in part]
        if type(part) is tuple:
            return {_KIND: "tuple", "items": [encode_part(item) for item in part]}
        if isinstance(part, range):
            return {_KIND: "range", "items": [part.start, part.stop, part.step]}
        if isinstance(part, Mapping):
            return {_KIND: "mapping", "items": [encode_part(list(pair)) for pair in part.items()]}
        if type(part) in classes:
            names = [field.name for field in dataclasses.fields(part)]
            fields = {name: encode_part(getattr(part, name)) for name in names}
            return {_KIND: type(part).__name__, "fields": fields}
        raise TypeError(f"a {type(part).__qualname__} cannot be stored in the file of a part")

    text = json.dumps(encode_part(value)).encode()
    named = {str(number): array for number, array in enumerate(arrays)}
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **{_TEXT: np.frombuffer(text, np.uint8)}, **named)
    return stream.getbuffer()


def decode(content: bytes | memoryview, classes: Sequence[type] = ()) -> Any:
    """Return the value in the content of a file; raise ValueError if `encode` did not write it."""
    by_name = {one.__name__: one for one in classes}

    def decode_part(part: Any, archive: Any) -> Any:
        if isinstance(part, list):
            return [decode_part(item, archive) for item in part]
        if not isinstance(part, dict):
            return part
        kind = part[_KIND]
        if kind in ("array", "scalar"):
            array = archive[str(part["number"])]
            return array if kind == "array" else array[()]
        if kind in by_name:
            fields = {name: decode_part(field, archive) for name, field in part["fields"].items()}
            return by_name[kind](**fields)
        items = [decode_part(item, archive) for item in part["items"]]
        make: Any = {"tuple": tuple, "mapping": dict, "range": lambda ends: range(*ends)}[kind]
        return make(items)

    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return decode_part(json.loads(archive[_TEXT].tobytes()), archive)
    except (KeyError, TypeError, AttributeError, EOFError, BadZipFile) as error:
        raise ValueError(f"not a stored value: {error!r}") from None
