"""The sources of the packages, as the import system of this process has read them.

Code that Numba runs while it compiles (intrinsics, vector types) is known by a digest of its files,
see `source_digests`. It is computed when it is first needed, which may be long after the modules
were imported, and modules may be imported long after that. It describes what was imported only if
these files have not changed in between. So the state of every file is recorded when a package is
imported, before its modules are, and compared whenever a digest is used: after an edit of one of
them, or with another branch in the same folder, nothing that depends on it is kept or read.

This module imports neither Numba nor NumPy, because `import <package>` does not.
"""

from __future__ import annotations

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
_changes: dict[str, str] = {}  # of modules whose files have changed: how


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


def files_of(package: str) -> dict[str, str]:
    """Return the files that a package had when it was imported, by their names in its folder."""
    folder, recorded = _packages[package]
    return {name: f"{folder}{os.sep}{name.replace('/', os.sep)}" for name in recorded}


def require_unchanged(modules: Iterable[tuple[str, str]]) -> None:
    """Raise SourcesChangedError if a file has changed since its package was imported.

    `modules` are names of modules and their files. After an edit this process goes on with what it
    has imported, and the file no longer tells what that is.
    """
    for name, path in modules:
        folder, recorded = _packages[name.partition(".")[0]]
        if name not in _changes:
            change = _find_change(path, recorded.get(_name_in(folder, path)))
            if change is None and name not in _checked_modules:
                _checked_modules.add(name)
                change = _find_stale_bytecode(sys.modules[name]) if name in sys.modules else None
            if change is not None:
                _changes[name] = change
        if name in _changes:
            raise SourcesChangedError(_changes[name])


def _name_in(folder: Path, path: str) -> str:
    """Return the name of a file in a folder, as it was recorded."""
    return path[len(str(folder)) + 1 :].replace(os.sep, "/")


def _find_change(path: str, recorded: State | None) -> str | None:
    """Return what tells that a file is not the one that was recorded."""
    try:
        current = _state_of(os.stat(path))
    except OSError as error:
        return f"{path} cannot be read ({error.strerror})"
    return None if current == recorded else f"{path} has changed since it was imported"


def _state_of(s: os.stat_result) -> State:
    return s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns


def _states(folder: Path, prefix: str = "") -> Iterator[tuple[str, State]]:
    """Yield the relative name and the state of every source in a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield prefix + entry.name, _state_of(entry.stat())
            elif entry.name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                yield from _states(folder / entry.name, f"{prefix}{entry.name}/")


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
