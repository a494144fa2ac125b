"""The folder of a package's compiled code, whose name is a hash of the sources.

The name is a hash of all files of the package and of `hetero`, of the versions of Python, Numba,
llvmlite and NumPy, and of Numba's settings. An edit anywhere gives another folder, so nothing in a
folder is ever out of date; folders that are no longer used are removed.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import hashlib
import os
import platform
import shutil
import sys
import time
from pathlib import Path

import llvmlite
import numba
import numpy
from numba import config

SOURCES = Path(__file__).parents[2]
"""Folder that contains the packages: `hetero` and the others."""

MAX_AGE = 30 * 86400
"""Seconds after its last use when a folder is removed."""

MAX_BYTES = 1 << 30
"""Bytes of all folders together, above which those that were used longest ago are removed."""

MAX_PER_PACKAGE = 8
"""Number of folders of a package: each edit of a source makes one (not tuned)."""

_SETTINGS = (
    "OPT",
    "BOUNDSCHECK",
    "CPU_NAME",
    "CPU_FEATURES",
    "DEBUGINFO_DEFAULT",
    "DISABLE_INTEL_SVML",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "ENABLE_AVX",
    "ENABLE_PROFILING",
    "USING_SVML",
)
"""Settings of Numba that change the code which it makes."""


def is_enabled() -> bool:
    """Return whether compiled code is kept on disk: yes, unless HETERO_CACHE is 0."""
    return os.environ.get("HETERO_CACHE", "1").strip().lower() not in ("0", "false", "no", "off")


def root() -> Path:
    """Return the folder of all compiled code.

    It is HETERO_CACHE_DIR, or else a folder in NUMBA_CACHE_DIR or in the user's cache.
    """
    if chosen := os.environ.get("HETERO_CACHE_DIR"):
        return Path(chosen)
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen) / "hetero"
    return user_cache() / "compiled"


def user_cache() -> Path:
    """Return the folder for files of the user that can be made again."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "hetero"


def package_of(module: str) -> str:
    """Return the package whose folder keeps the code of a module; `hetero` for foreign modules."""
    top = module.partition(".")[0]
    return top if (SOURCES / top / "__init__.py").exists() else "hetero"


@functools.cache
def folder_of(package: str) -> Path:
    """Return the folder for the compiled code of a package; it may not exist yet."""
    path = root() / f"{package}-{_state(package)}"
    with contextlib.suppress(OSError):  # it may not exist, or be another user's
        os.utime(path)  # records the last use
    return path


def _state(package: str) -> str:
    """Return a hash of everything that compiled code depends on, except for its own arguments."""
    total = hashlib.sha256()
    versions = (
        platform.python_implementation(),
        sys.version,
        numba.__version__,
        llvmlite.__version__,
        numpy.__version__,
        *(f"{name}={getattr(config, name, None)}" for name in _SETTINGS),
    )
    total.update("\n".join(map(str, versions)).encode())
    for name in sorted({package, "hetero"}):
        total.update(_sources(name))
    return total.hexdigest()[:16]


@functools.cache
def _sources(package: str) -> bytes:
    """Return a hash of the names and contents of a package's files."""
    total = hashlib.sha256()
    for path in sorted((SOURCES / package).rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            name = path.relative_to(SOURCES).as_posix()
            content = path.read_bytes()
            total.update(f"{name}\n{len(content)}\n".encode() + content)
    return total.digest()


def prune(current: Path) -> None:
    """Remove folders that have not been used for long, or are too many; never `current`."""
    folders = []
    for path in root().glob("*-*"):
        try:
            files = [entry.stat().st_size for entry in os.scandir(path)]
            folders.append((path.stat().st_mtime, sum(files), path))
        except OSError:
            continue  # another process has removed it
    total, count = 0, collections.Counter[str]()
    for used, size, path in sorted(folders, reverse=True):
        package = path.name.rpartition("-")[0]
        total, count[package] = total + size, count[package] + 1
        is_old = time.time() - used > MAX_AGE
        if path != current and (is_old or total > MAX_BYTES or count[package] > MAX_PER_PACKAGE):
            shutil.rmtree(path, ignore_errors=True)
