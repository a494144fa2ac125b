"""Ranks that share work must have the same work: its digests are compared before it begins.

Work is described by value: fields of dataclasses and named tuples, elements of containers, arrays
by all their elements, functions by their code and by what they refer to. An array that is mapped to
a file counts by its file, which is not read. Objects of other classes count by their texts, and
functions that refer to values without a fingerprint by their names only.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any

import numpy as np

_CHUNK = 1 << 16
"""Number of 8-byte words that are hashed at a time: they fit into a core's cache."""

_FACTORS = np.random.default_rng(0).integers(0, 2**63, _CHUNK, np.uint64) * np.uint64(
    2
) + np.uint64(1)
"""Odd factors of the words of a chunk, so that their sum tells orders of equal words apart."""


def require_same(comm: Any, **values: Any) -> None:
    """Raise ValueError on all ranks if a value differs between two of them, and name what differs.

    Parameters
    ----------
    comm : communicator of mpi4py; all its ranks call alike
    values : anything, by name
    """
    described = _describe(values)
    total = hashlib.blake2b(repr(sorted(described.items())).encode(), digest_size=16).digest()
    if len(set(comm.allgather(total))) == 1:
        return
    first, *others = comm.allgather(described)
    for rank, theirs in enumerate(others, 1):
        for name in sorted(first.keys() | theirs.keys(), key=lambda n: (n.count("."), n)):
            if first.get(name) != theirs.get(name):
                of_first, of_other = (d.get(name, ("nothing",))[0] for d in (first, theirs))
                values_differ = "" if of_first == of_other else f" ({of_first} and {of_other})"
                raise ValueError(
                    f"ranks 0 and {rank} differ in {name}{values_differ}: all ranks must call the "
                    "same function with the same arguments"
                )


def agree_on_key(comm: Any, key: Any, rng: Any) -> Any:
    """Return the random key that all ranks use: fresh entropy of rank 0, or that of `rng`.

    Raises ValueError on all ranks if `rng` stands for another key on another rank.
    """
    keys = comm.allgather(None if rng is None else tuple(map(int, key)))
    if len(set(keys)) > 1:
        raise ValueError(
            "rng must be the same on all ranks: pass one seed to all, or None for a fresh one"
        )
    return comm.bcast(key)


def _describe(values: Mapping[str, Any]) -> dict[str, tuple[str, bytes]]:
    """Return the first value and the digest of all values of each field, by its path."""
    digests: dict[str, tuple[str, Any]] = {}
    fingerprints: dict[int, str] = {}  # of functions, which many parts share
    for path, text, data in _leaves(values, "", fingerprints):
        if path not in digests:
            digests[path] = text, hashlib.blake2b(digest_size=16)
        digests[path][1].update(f"{len(text)}:{text}".encode() + data)
    return {path: (text, digest.digest()) for path, (text, digest) in digests.items()}


def _leaves(
    value: Any, path: str, fingerprints: dict[int, str]
) -> Iterator[tuple[str, str, bytes]]:
    """Yield (path, short text, data) of everything in a value; elements of lists share a path."""
    inner: Iterator[tuple[str, Any]]
    kind = type(value)
    if isinstance(value, np.memmap) and value.filename is not None:
        text = f"array of {value.filename}"
        yield path, text, repr((value.offset, value.shape, value.dtype, value.strides)).encode()
        return
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield path, f"array of shape {value.shape}, {value.dtype}", _hash_array(value)
        return
    if isinstance(value, Mapping):
        inner = iter(sorted(((str(key), value[key]) for key in value), key=lambda pair: pair[0]))
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        inner = zip(value._fields, value, strict=True)
    elif isinstance(value, tuple | list | np.ndarray):
        inner = (("", element) for element in value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    elif isinstance(value, functools.partial):
        inner = iter([("", value.func), ("", value.args), ("", value.keywords)])
    else:
        yield path, _text_of(value, fingerprints), b""
        return
    yield (
        path,
        f"{kind.__name__} of {len(value)}" if hasattr(value, "__len__") else kind.__name__,
        b"",
    )
    for name, element in inner:
        below = f"{path}.{name}" if path and name else path or name
        yield from _leaves(element, below, fingerprints)


def _text_of(value: Any, fingerprints: dict[int, str]) -> str:
    """Return a text that differs where values do, and holds no address in memory."""
    if isinstance(value, FunctionType) or callable(getattr(value, "py_func", None)):
        if id(value) not in fingerprints:
            fingerprints[id(value)] = _text_of_function(value)
        return fingerprints[id(value)]
    if isinstance(value, int) and value.bit_length() > 64:
        return hex(value)  # Python refuses to write thousands of decimal digits
    text = repr(value)
    return f"{type(value).__module__}.{type(value).__qualname__}" if " at 0x" in text else text


def _text_of_function(function: Callable[..., Any]) -> str:
    """Return the name of a function, and the fingerprint of one that Numba or a user has made."""
    from hetero.compile_cache import sources
    from hetero.compile_cache.fingerprint import UnknownValueError, fingerprint_of_results

    name = f"{function.__module__}.{function.__qualname__}"
    if isinstance(function, FunctionType) and sources.is_ours(function.__code__.co_filename):
        return name
    try:
        return f"{name} with the fingerprint {fingerprint_of_results(function)[:16]}"
    except (UnknownValueError, sources.SourcesChangedError):
        return name


def _hash_array(array: np.ndarray) -> bytes:
    """Return a hash of all elements of an array, several times faster than a cryptographic one."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    words = data[: data.size // 8 * 8].view(np.uint64)
    digest = hashlib.blake2b(data[words.size * 8 :].tobytes(), digest_size=16)
    products = np.empty(min(_CHUNK, words.size), np.uint64)
    for begin in range(0, words.size, _CHUNK):
        chunk = words[begin : begin + _CHUNK]
        np.multiply(chunk, _FACTORS[: chunk.size], out=products[: chunk.size])
        digest.update(products[: chunk.size].sum(dtype=np.uint64).tobytes())
    return digest.digest()
