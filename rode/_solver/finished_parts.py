"""Finished parts of a computation in a folder, from which an interrupted one continues.

Whoever computes a part writes its file: on ranks each its own, so that a job that dies loses only
parts that were being computed. Files are written under another name and renamed, so that each is
complete.

They hold no pickles, which could run code, but NumPy's arrays beside JSON. A value consists of
None, numbers, texts, arrays, lists, tuples and mappings, and of objects of the classes that the
reader names: dataclasses, which are made anew from their fields.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from hetero.data_files.atomic_files import replace_atomically, write_json
from hetero.errors import CheckpointError

_FORMAT = "hetero parts 2"
_DIGEST_SIZE = 16

_KIND = "kind"
"""Key of a mapping in the JSON that stands for something else than a mapping."""

_TEXT = "json"
"""Name of the array with the JSON; the others are numbered."""


class Checkpoint:
    """A folder with the finished parts of one computation.

    Parameters
    ----------
    folder : where the files are
    name : beginning of the names of the files; several computations may share a folder
    classes : dataclasses whose objects results may hold, beside arrays and plain values
    """

    def __init__(self, folder: Path, name: str, classes: Sequence[type] = ()) -> None:
        self._folder, self._name, self._classes = folder, name, classes

    @property
    def _head(self) -> Path:
        return self._folder / f"{self._name}.json"

    def read_identity(self) -> dict[str, Any] | None:
        """Return what identifies the computation of the folder, or None if there is none yet.

        Raises CheckpointError if the file is not one of a checkpoint.
        """
        if not self._head.exists():
            return None
        try:
            head = json.loads(self._head.read_text())
            identity = head["identity"]
            is_valid = head["format"] == _FORMAT and isinstance(identity, dict)
        except (ValueError, TypeError, KeyError):
            is_valid = False
        if not is_valid:
            raise CheckpointError(
                f"{self._head} is not of a checkpoint: remove the folder, or use another"
            )
        return dict(identity)

    def open(self, identity: Mapping[str, Any]) -> None:
        """Create the folder for a computation, or check that it belongs to it.

        Parameters
        ----------
        identity : values of JSON by name, which are equal for equal computations

        Raises
        ------
        CheckpointError
            The folder belongs to another computation. It is left unchanged.
        """
        expected = json.loads(json.dumps(dict(identity)))
        stored = self.read_identity()
        if stored is None:
            write_json(self._head, {"format": _FORMAT, "identity": expected})
            return
        for key in expected.keys() | stored.keys():
            if stored.get(key) != expected.get(key):
                raise CheckpointError(
                    f"{self._folder} belongs to a computation with {key}={stored.get(key)!r}, but "
                    f"this one has {expected.get(key)!r}: use another folder, or remove this one"
                )

    def load(self, parts: int) -> dict[int, Any]:
        """Return the results of the finished parts by number; raise CheckpointError for damage."""
        results = {}
        for number in range(parts):
            path = self._path_of(number)
            if not path.exists():
                continue
            data = path.read_bytes()
            digest, payload = data[:_DIGEST_SIZE], data[_DIGEST_SIZE:]
            try:
                if _digest_of(payload) != digest:
                    raise ValueError("its digest is another one")
                results[number] = decode(payload, self._classes)
            except ValueError as error:
                raise CheckpointError(
                    f"{path} is damaged: remove this file, and its part is computed again"
                ) from error
        return results

    def add(self, number: int, result: Any) -> None:
        """Write the file of a finished part."""
        payload = encode(result, self._classes)
        with replace_atomically(self._path_of(number)) as part, part.open("wb") as file:
            file.write(_digest_of(payload))
            file.write(payload)  # not joined with the digest: it may fill a good part of the memory

    def _path_of(self, number: int) -> Path:
        return self._folder / f"{self._name}-{number}.part"


def _digest_of(payload: bytes | memoryview) -> bytes:
    return hashlib.blake2b(payload, digest_size=_DIGEST_SIZE).digest()


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
        make: Any = {"tuple": tuple, "mapping": dict}[kind]
        return make([decode_part(item, archive) for item in part["items"]])

    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return decode_part(json.loads(archive[_TEXT].tobytes()), archive)
    except (KeyError, TypeError, AttributeError, EOFError, BadZipFile) as error:
        raise ValueError(f"not a stored value: {error!r}") from None
