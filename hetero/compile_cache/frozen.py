"""Records of what each compiled function was made of, for the functions that call it.

Numba compiles a function once for each signature and freezes the values of its globals in it. A
function that is compiled later calls what is there, with the values of that time, while a
fingerprint is made from the values of the present. So each compiled version is recorded with the
fingerprint that its function had before and after the compilation, and a function that calls one
with another record, or with none, is not kept on disk.
"""

from __future__ import annotations

import weakref
from typing import Any

from hetero.numba_internals.dispatchers import variant_for_gpu

_Records = dict[int, tuple[Any, bytes]]
_records: weakref.WeakKeyDictionary[Any, _Records] = weakref.WeakKeyDictionary()

UNCERTAIN = b""
"""A record that equals no fingerprint."""


def compiled_versions(dispatcher: Any) -> list[Any]:
    """Return what Numba has compiled for a function, for all signatures and both targets."""
    variant = variant_for_gpu(dispatcher)
    versions = [*dispatcher.overloads.values()]
    return versions if variant is None else [*versions, *variant.overloads.values()]


def record(dispatcher: Any, version: Any, fingerprint: bytes) -> None:
    """Record the fingerprint of the function from which a version was compiled."""
    # The version is kept in the record, so that its id is not given to another object.
    _records.setdefault(dispatcher, {})[id(version)] = version, fingerprint


def record_new_versions(dispatcher: Any, fingerprint: bytes) -> None:
    """Record all versions that have no record yet."""
    recorded = _records.get(dispatcher, {})
    for version in compiled_versions(dispatcher):
        if id(version) not in recorded:
            record(dispatcher, version, fingerprint)


def agrees(dispatcher: Any, fingerprint: bytes, allow_new: bool) -> bool:
    """Return whether all versions were compiled from a function with this fingerprint.

    `allow_new` says whether versions without a record pass.
    """
    recorded = _records.get(dispatcher, {})
    records = [recorded.get(id(version)) for version in compiled_versions(dispatcher)]
    return all(allow_new if entry is None else entry[1] == fingerprint for entry in records)
