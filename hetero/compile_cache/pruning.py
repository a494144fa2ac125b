"""Removal of compiled code that is no longer used.

Files are removed one by one, and only if the names of the file and of its folder have the pattern
that this cache gives them, in a folder that carries its mark. Links are never followed, and a
folder goes only if it is empty then: whatever else lies there stays.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate

from hetero.compile_cache.secure_files import PARTIAL, opened_folder, write_file

MAX_AGE = 30 * 86400.0
"""Seconds after its last use when a file is removed."""

MAX_BYTES = 1 << 30
"""Bytes of all files together; beyond, those that were used longest ago are removed."""

MAX_PER_PACKAGE = 8
"""Number of folders of a package: each edit of a source makes one (not tuned)."""

BETWEEN_PRUNINGS = 86400.0
"""Seconds between two removals, unless much is written."""

BYTES_BETWEEN_PRUNINGS = 1 << 26
"""Bytes that a process writes before it looks again what is to be removed: a program may compile
thousands of closures, of half a megabyte each, within a day."""

_ABANDONED = 3600.0
"""Seconds after which a file that is still being written has lost its writer."""

_STAMP = "pruned"
_FOLDER = re.compile(r"[a-z]\w*-[0-9a-f]{16}", re.ASCII)
_FILE = re.compile(rf"[\w.-]+-[0-9a-f]{{24}}(?:\.[0-9a-f]{{16}}\{PARTIAL})?")

_written = 0


@dataclass(frozen=True)
class _File:
    """A file of the cache, and the seconds since its last use."""

    folder: str
    name: str
    bytes: int
    age: float


def prune_if_due(
    root: int, written: int, every: int = BYTES_BETWEEN_PRUNINGS, most_bytes: int = MAX_BYTES
) -> None:
    """Remove what is no longer used, once a day or after `every` bytes were written.

    `root` is a descriptor of the open folder that holds everything, and `written` the number of
    bytes that this process has just written.
    """
    global _written
    _written += written
    if _written < every and _seconds_since_pruning(root) < BETWEEN_PRUNINGS:
        return
    _written = 0
    write_file(_STAMP, root)
    prune(root, most_bytes)


def prune(root: int, most_bytes: int = MAX_BYTES, most_folders: int = MAX_PER_PACKAGE) -> None:
    """Remove files that are old or too many, and the folders that are empty then."""
    files = _files_in(root)
    for file in _superfluous(files, most_bytes, most_folders):
        with (
            contextlib.suppress(OSError),  # another process has removed it
            opened_folder(file.folder, within=root) as folder,
        ):
            os.unlink(file.name, dir_fd=folder)
    for name in {file.folder for file in files}:
        with contextlib.suppress(OSError):  # it is not empty
            os.rmdir(name, dir_fd=root)


def _superfluous(files: list[_File], most_bytes: int, most_folders: int) -> list[_File]:
    """Return the files that are to be removed."""
    files = sorted(files, key=lambda file: file.age)
    states = defaultdict[str, list[str]](list)  # folders of each package, the last used one first
    for file in files:
        package = file.folder.rpartition("-")[0]
        if file.folder not in states[package]:
            states[package].append(file.folder)
    surplus = {folder for folders in states.values() for folder in folders[most_folders:]}
    totals = accumulate(file.bytes for file in files)
    return [
        file
        for file, total in zip(files, totals, strict=True)
        if file.age > (_ABANDONED if file.name.endswith(PARTIAL) else MAX_AGE)
        or total > most_bytes
        or file.folder in surplus
    ]


def _files_in(root: int) -> list[_File]:
    """Return the files that this cache has written.

    A date in the future is as bad as one in the past: nobody knows when such a file was used.
    """
    now, files = time.time(), []
    for folder in os.listdir(root):
        if not _FOLDER.fullmatch(folder):
            continue
        with contextlib.suppress(OSError), opened_folder(folder, within=root) as descriptor:
            for entry in os.scandir(descriptor):
                if _FILE.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    age = abs(now - status.st_mtime)
                    files.append(_File(folder, entry.name, status.st_size, age))
    return files


def _seconds_since_pruning(root: int) -> float:
    """Return the seconds since the last removal; infinity if there is no credible date."""
    try:
        seconds = time.time() - os.stat(_STAMP, dir_fd=root, follow_symlinks=False).st_mtime
    except OSError:
        return float("inf")
    return seconds if seconds >= 0.0 else float("inf")
