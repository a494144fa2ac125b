"""Compiled code in files, for Numba's dispatchers on both targets.

Numba's own cache looks only at the file of the function itself, does not find code of closures
again, and trusts what it reads. This one is named by `folder` and `fingerprint`, keeps a checksum
in every file, writes files whole or not at all, and never fails: if anything is wrong with a file
or a folder, the function is compiled.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import re
import secrets
import time
import warnings
from pathlib import Path
from typing import Any

from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from hetero.compile_cache import folder, notice
from hetero.compile_cache.fingerprint import UnknownValueError, fingerprint

_MAGIC = b"hetero compiled code 1\n"
_DIGEST = hashlib.sha256().digest_size
_BETWEEN_PRUNINGS = 86400.0  # seconds
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]+")


class DiskCache:
    """Store of compiled code that a dispatcher asks before it compiles, and fills afterwards.

    It has the methods of Numba's caches that dispatchers call. `reduce` and `rebuild` turn what a
    CPU dispatcher compiles into data that can be pickled, and back.

    Attributes
    ----------
    hits, misses : number of signatures that were read from disk, or had to be compiled
    """

    hits = misses = 0

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        self._function, self._options = function, options
        self._enabled = True

    @functools.cached_property
    def _identity(self) -> str | None:
        """Fingerprint of the function and of how it is compiled; None if it has none."""
        try:
            options = {k: v for k, v in self._options.items() if k != "cache"}
            covered = {self._package, "hetero"}
            return fingerprint(type(self).__name__, self._function, options, covered=covered)
        except UnknownValueError:
            return None

    @property
    def cache_path(self) -> str:
        """The folder of the files."""
        return str(folder.folder_of(self._package))

    @property
    def _package(self) -> str:
        """Package whose folder keeps the code."""
        return folder.package_of(self._function.__module__ or "")

    def enable(self) -> None:
        """Read and write files from now on."""
        self._enabled = True

    def disable(self) -> None:
        """Neither read nor write files from now on."""
        self._enabled = False

    def flush(self) -> None:
        """Do nothing: a file never goes out of date."""

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature, or None if it is not on disk."""
        target_context.refresh()
        path = self._path(signature, target_context.codegen())
        data = None if path is None else read(path)
        if data is not None:
            with contextlib.suppress(Exception):  # of another build of Numba with its version
                code = self.rebuild(target_context, data)
                DiskCache.hits += 1
                return code
        DiskCache.misses += 1
        notice.compilation_begins(self._function.__module__ or "")
        return None

    def save_overload(self, signature: Any, code: Any) -> None:
        """Write the compiled code for a signature, if it can be written."""
        path = self._path(signature, code.codegen)
        if path is None:
            return
        try:
            data = self.reduce(code)
        except Exception:  # it refers to something of this process
            return
        write(path, data)

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        """Return the file for a signature, or None if its code is not to be kept."""
        if not self._enabled or self._identity is None:
            return None
        types = str(signature)
        if _ADDRESS.search(types):
            return None
        text = f"{self._identity}\n{types}\n{codegen.magic_tuple()}"
        key = hashlib.sha256(text.encode()).hexdigest()[:24]
        name = re.sub(r"[^\w.]", "", self._function.__qualname__.replace("<locals>.", ""))
        module = (self._function.__module__ or "").rpartition(".")[2]
        return Path(self.cache_path) / f"{module}.{name}-{key}"

    def reduce(self, code: Any) -> bytes:
        """Return compiled code as bytes; raise if it refers to something of this process."""
        if code.library.has_dynamic_globals or code.lifted:
            raise UnknownValueError("it refers to addresses")
        return dumps(code._reduce())

    def rebuild(self, target_context: Any, data: bytes) -> Any:
        """Return compiled code from what `reduce` returned."""
        return CompileResult._rebuild(target_context, *pickle.loads(data))


def attach(dispatcher: Any, kind: type[DiskCache] = DiskCache) -> Any:
    """Let a dispatcher of Numba keep its compiled code on disk; return it."""
    if folder.is_enabled():
        dispatcher._cache = kind(dispatcher.py_func, dispatcher.targetoptions)
    return dispatcher


def read(path: Path) -> bytes | None:
    """Return the content of a file of the cache; None if it is absent or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    data = content[len(_MAGIC) + _DIGEST :]
    head = _MAGIC + hashlib.sha256(data).digest()
    return data if content.startswith(head) else None


def write(path: Path, data: bytes) -> None:
    """Write a file of the cache whole, or not at all; warn once if that is impossible."""
    partial = path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_bytes(_MAGIC + hashlib.sha256(data).digest() + data)
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        _warn_that_nothing_is_kept(path.parent, error.strerror or str(error))
        return
    _prune_once(path.parent)


@functools.cache
def _warn_that_nothing_is_kept(path: Path, reason: str) -> None:
    warnings.warn(
        f"compiled code cannot be kept in {path} ({reason}), so every process compiles again. Set "
        "HETERO_CACHE_DIR to a folder that can be written to, or HETERO_CACHE=0",
        stacklevel=2,
    )


@functools.cache
def _prune_once(current: Path) -> None:
    """Remove old folders, at most once a day and once a process."""
    stamp = folder.root() / "pruned"
    try:
        if time.time() - stamp.stat().st_mtime < _BETWEEN_PRUNINGS:
            return
    except OSError:
        pass  # never pruned before
    with contextlib.suppress(OSError):
        stamp.touch()
        folder.prune(current)
