"""The sources of the packages, as the import system of this process has read them.

Code that Numba runs while it compiles (intrinsics, vector types) is known by a hash of the sources.
The hash is computed when it is first needed, which may be long after the modules were imported, and
modules may be imported long after that. It describes what was imported only if no file has changed
in between. So the state of every file is recorded when a package is imported, before its modules
are, and compared whenever compiled code is read or written: after an edit, or another branch in the
same folder, a process keeps nothing more, and reads nothing more.

This module imports neither Numba nor NumPy, because `import <package>` does not.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

FOUNDATION = "hetero"
"""The package that all others are built on: their hashes cover its sources too."""

State = tuple[int, int, int, int]
"""Inode, size in bytes, and times of the last change of content and of status in nanoseconds."""

_packages: dict[str, tuple[Path, dict[str, State]]] = {}
_checked_modules: set[str] = set()
_changes: dict[str, str] = {}  # of packages whose sources have changed: what has


class SourcesChangedError(Exception):
    """Files have changed since they were imported: nobody knows what this process has loaded."""


def register(package: str, folder: str) -> None:
    """Record the state of a package's sources; call it first in the package's `__init__`.

    Functions of registered packages are compiled once per installation. Those of other packages are
    kept too, but only if they use no extension of Numba (intrinsics, overloads) of their own.

    Parameters
    ----------
    package : str
        The package's `__name__`.
    folder : str
        The folder of its sources, `__path__[0]`.
    """
    path = Path(folder).absolute()
    if package not in _packages and path.is_dir():  # it is not a folder in a zip archive
        _packages[package] = path, dict(_states(path))


def is_registered(package: str) -> bool:
    """Return whether a package has called `register`."""
    return package in _packages


def packages() -> list[str]:
    """Return the names of all registered packages."""
    return list(_packages)


def folders() -> list[Path]:
    """Return the folders of all registered packages."""
    return [folder for folder, _ in _packages.values()]


def is_ours(file: str) -> bool:
    """Return whether a file lies in the folder of a registered package."""
    return any(file.startswith(f"{folder}{os.sep}") for folder in folders())


def hash_of(package: str) -> str:
    """Return a hash of the sources of a package and of `hetero`, as they were imported.

    Raises SourcesChangedError if a file has changed since.
    """
    names = sorted({package, FOUNDATION})
    hashes = [_hash_of_files(name) for name in names]
    check_unchanged(names)  # after reading, so that the hashes are those of the recorded files
    return hashlib.sha256("".join(hashes).encode()).hexdigest()


def check_unchanged(packages: Iterable[str]) -> None:
    """Raise SourcesChangedError if a file of the packages has changed since they were imported."""
    for package in packages:
        if package not in _changes and (change := _find_change(package)):
            _changes[package] = change
        if package in _changes:
            raise SourcesChangedError(_changes[package])


def _find_change(package: str) -> str | None:
    """Return what tells that a package's sources may not be those which were imported."""
    folder, recorded = _packages[package]
    try:
        current = dict(_states(folder))
    except OSError as error:
        return f"{folder} cannot be read ({error.strerror})"
    if current != recorded:
        names = current.keys() | recorded.keys()
        name = min(name for name in names if current.get(name) != recorded.get(name))
        return f"{folder / name} has changed since {package} was imported"
    return next(filter(None, map(_find_stale_bytecode, _new_modules(package))), None)


@functools.cache
def _hash_of_files(package: str) -> str:
    """Return a hash of the names and contents of a package's sources."""
    folder, recorded = _packages[package]
    total = hashlib.sha256()
    for name in sorted(recorded):
        try:
            content = (folder / name).read_bytes()
        except OSError as error:
            raise SourcesChangedError(f"{folder / name} cannot be read") from error
        total.update(f"{name}\n{len(content)}\n".encode() + content)
    return total.hexdigest()


def _states(folder: Path, prefix: str = "") -> Iterator[tuple[str, State]]:
    """Yield the relative name and the state of every source in a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                s = entry.stat()
                yield prefix + entry.name, (s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns)
            elif entry.name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                yield from _states(folder / entry.name, f"{prefix}{entry.name}/")


def _new_modules(package: str) -> list[ModuleType]:
    """Return the modules of a package that have been imported since the last call."""
    names = [name for name in list(sys.modules) if name.partition(".")[0] == package]
    new = [name for name in names if name not in _checked_modules]
    _checked_modules.update(new)
    return [module for name in new if isinstance(module := sys.modules.get(name), ModuleType)]


def _find_stale_bytecode(module: ModuleType) -> str | None:
    """Return what tells that Python may have loaded bytecode of an older source of a module.

    Python takes a .pyc file for current if the source has the same size and was changed in the same
    second. Then the source was changed after the .pyc file was written.
    """
    source, bytecode = getattr(module, "__file__", None), getattr(module, "__cached__", None)
    if not source or not bytecode:
        return None
    try:
        cached, state = os.stat(bytecode), os.stat(source)
        with open(bytecode, "rb") as file:
            head = file.read(16)
    except OSError:
        return None  # without a .pyc file the source itself was loaded
    is_checked_by_time = head[4:8] == bytes(4)
    is_for_this_time = head[8:12] == int(state.st_mtime).to_bytes(8, "little", signed=True)[:4]
    is_for_this_size = head[12:16] == (state.st_size & 0xFFFFFFFF).to_bytes(4, "little")
    is_current = is_checked_by_time and is_for_this_time and is_for_this_size
    is_older = cached.st_mtime_ns < state.st_mtime_ns
    return f"{bytecode} is older than {source}" if is_current and is_older else None
