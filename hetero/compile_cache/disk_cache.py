"""Compiled code in files, for Numba's dispatchers on both targets.

Numba's own cache looks only at the file of the function itself, does not find code of closures
again, and trusts what it reads. This one is named by fingerprints of functions and of what extends
Numba, and never fails: if anything is wrong with a file or a folder, the function is compiled.
"""

from __future__ import annotations

import hashlib
import logging
import platform
import re
import sys
import weakref
from dataclasses import dataclass
from typing import Any

import llvmlite
import numba
import numpy
from numba import config

from hetero.compile_cache import claims, frozen, notice, sources, store
from hetero.compile_cache.fingerprint import Fingerprints, UnknownValueError
from hetero.compile_cache.source_digests import digest_of_extensions
from hetero.numba_internals import compiled_code
from hetero.numba_internals.dispatchers import argument_types, set_cache

_log = logging.getLogger(__name__)

_WITHOUT_INFLUENCE = re.compile(
    r"_|DUMP_|DEBUG_(?!INFO)|CACHE_|THREADING_LAYER|NUMBA_(?:DEFAULT_)?NUM_THREADS|CUDA_LOG|COLOR_"
    r"|ALWAYS_WARN|ANNOTATE|CAPTURED_ERRORS|CHROME_TRACE|DEVELOPER_MODE|DIFF_IR"
    r"|DISABLE_(?:CUDA|PERFORMANCE|TYPEINFER)|ENABLE_CUDASIM|FULL_TRACEBACKS|FUNCTION_CACHE_SIZE"
    r"|GDB_BINARY|HIGHLIGHT|HTML|LLVM_PASS_TIMINGS|PARALLEL_DIAGNOSTICS|SHOW_HELP|TRACE$|WARNINGS"
    r"|CUDA_(?:ARRAY_INTERFACE|DEALLOCS|DRIVER|LOW_OCCUPANCY|MEMORY_MANAGER|PER_THREAD|VERBOSE|WARN)"
)
"""Settings of Numba that do not change the code which it makes; all others are told apart.

The simulator compiles no kernels, and functions for the CPU as without it.
"""

_FOR_GPUS_ONLY = re.compile("CUDA_|FORCE_CUDA")
"""Settings that change kernels, but not code for the CPU."""


@dataclass(frozen=True)
class _Entry:
    """The file for a compiled function, and the fingerprints of all functions in it."""

    folder: str
    file: str
    fingerprint: bytes
    callees: list[tuple[Any, bytes]]


class DiskCache:
    """Store of compiled code that a dispatcher asks before it compiles, and fills afterwards.

    It has the methods of Numba's caches that dispatchers call. `reduce` and `rebuild` turn what a
    CPU dispatcher compiles into data that can be pickled, and back.

    Attributes
    ----------
    hits, misses : number of signatures that were read from disk, or had to be compiled
    for_gpus : whether it is code for GPUs
    """

    hits = misses = 0
    for_gpus = False

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = weakref.ref(dispatcher)
        self._module = dispatcher.py_func.__module__ or ""
        self._name = dispatcher.py_func.__qualname__.replace("<locals>.", "")
        self._entries: dict[Any, _Entry | None] = {}  # by signature, of what is being compiled
        self._enabled = True

    @property
    def cache_path(self) -> str:
        """The folder of the files."""
        return str(store.root() / folder_of(package_of(self._module)))

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
        entry = self._identify(signature, target_context.codegen(), allow_new=False)
        self._entries[signature] = entry
        if entry is not None:
            code = self._load(entry, target_context)
            if code is None and claims.claim(entry.folder, entry.file):
                code = self._load(entry, target_context)  # another process has compiled it
            if code is not None:
                claims.release(entry.folder, entry.file)
                return code
        DiskCache.misses += 1
        notice.compilation_begins(self._module)
        return None

    def _load(self, entry: _Entry, target_context: Any) -> Any:
        """Return the compiled code of an entry, or None if it is not on disk."""
        data = store.read(entry.folder, entry.file)
        if data is None:
            return None
        try:
            code = self.rebuild(target_context, data)
        except Exception as reason:  # of another build of Numba with its version
            _log.debug("%s.%s cannot be loaded: %r", self._module, self._name, reason)
            return None
        frozen.record(self._dispatcher(), code, entry.fingerprint)
        DiskCache.hits += 1
        return code

    def save_overload(self, signature: Any, code: Any) -> None:
        """Write the compiled code for a signature, if it is certain what it was made of."""
        before = self._entries.pop(signature, None)
        entry = self._identify(signature, code.codegen, allow_new=True)
        if entry is None or before is None or entry.file != before.file:
            if entry and before:
                _log.debug("%s.%s has changed while Numba compiled", self._module, self._name)
            frozen.record(self._dispatcher(), code, frozen.UNCERTAIN)
            return
        frozen.record(self._dispatcher(), code, entry.fingerprint)
        for dispatcher, fingerprint in entry.callees:
            frozen.record_new_versions(dispatcher, fingerprint)
        try:
            data = self.reduce(code)
        except Exception as reason:  # it refers to something of this process
            _log.debug("%s.%s is not kept on disk: %s", self._module, self._name, reason)
            return
        store.write(entry.folder, entry.file, data)
        claims.release(entry.folder, entry.file)

    def _identify(self, signature: Any, codegen: Any, allow_new: bool) -> _Entry | None:
        """Return the file for a signature, or None if it is uncertain what its code depends on."""
        if not self._enabled:
            return None
        prints = Fingerprints(allow_new)
        try:
            folder = folder_of(package_of(self._module))
            fingerprint = prints.of(self._dispatcher())
            arguments = [prints.of_type(kind).hex() for kind in argument_types(signature)]
        except (UnknownValueError, sources.SourcesChangedError) as reason:
            _log.debug("%s.%s is not kept on disk: %s", self._module, self._name, reason)
            return None
        compilers = [repr(codegen.magic_tuple()), *self.versions(), *settings(self.for_gpus)]
        key = "\n".join([folder, fingerprint.hex(), *arguments, *compilers])
        name = re.sub(r"[^\w.]", "", f"{self._module.rpartition('.')[2]}.{self._name}", flags=re.A)
        file = f"{name[:100]}-{hashlib.sha256(key.encode()).hexdigest()[:24]}"
        return _Entry(folder, file, fingerprint, prints.dispatchers)

    def versions(self) -> list[str]:
        """Return versions of compilers that this kind of code depends on, besides Numba's."""
        return []

    def reduce(self, code: Any) -> bytes:
        """Return compiled code as bytes; raise if it refers to something of this process."""
        if compiled_code.has_addresses(code):
            raise UnknownValueError("it refers to addresses")
        return compiled_code.to_bytes(code)

    def rebuild(self, target_context: Any, data: bytes) -> Any:
        """Return compiled code from what `reduce` returned."""
        return compiled_code.from_bytes(target_context, data)


def attach(dispatcher: Any, kind: type[DiskCache] = DiskCache) -> Any:
    """Let a dispatcher of Numba keep its compiled code on disk; return it."""
    if store.is_enabled():
        set_cache(dispatcher, kind(dispatcher))
    return dispatcher


def package_of(module: str) -> str:
    """Return the package in whose folder code of a module is kept; `hetero` for foreign modules."""
    top = module.partition(".")[0]
    return top if sources.is_registered(top) else sources.FOUNDATION


def folder_of(package: str) -> str:
    """Return the name of the folder for a package, which tells versions and extensions of Numba.

    Raises SourcesChangedError if the sources of extensions have changed since they were imported.
    """
    versions = (
        platform.python_implementation(),
        sys.version,
        numba.__version__,
        llvmlite.__version__,
        numpy.__version__,
        digest_of_extensions(package),
    )
    return f"{package}-{hashlib.sha256(repr(versions).encode()).hexdigest()[:16]}"


def settings(for_gpus: bool = False) -> list[str]:
    """Return the settings of Numba that may change the code which it makes."""
    return [
        f"{name}={value!r}"
        for name, value in sorted(vars(config).items())
        if name.isupper()
        and not _WITHOUT_INFLUENCE.match(name)
        and (for_gpus or not _FOR_GPUS_ONLY.match(name))
    ]
