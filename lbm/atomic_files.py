"""Files that are complete or absent: written beside their target, then renamed."""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on this system: parts of killed processes are left alone
    fcntl = None


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of an empty file that takes the place of `path` at the end of the block.

    If the block raises, `path` is as it was and nothing else is left. What killed processes have
    left is removed first: a file whose writer lives is locked. The folder is made where needed.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: give the path of a file in it")
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned_parts(path)
    part, descriptor = _create_part(path)
    try:
        yield part
        os.fsync(descriptor)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
        os.close(descriptor)


def remove_abandoned_parts(path: Path) -> None:
    """Remove what processes that were killed while they wrote `path` have left beside it."""
    for name in glob.glob(_parts_of(path)):
        with contextlib.suppress(OSError):  # another process may remove it at the same time
            descriptor = os.open(name, os.O_RDWR)
            try:
                if _lock(descriptor, wait=False):
                    os.unlink(name)
            finally:
                os.close(descriptor)


def _parts_of(path: Path) -> str:
    """Return a pattern that the names of all parts of `path` match."""
    return f"{glob.escape(str(path))}.*.part{glob.escape(path.suffix)}"


def _create_part(path: Path) -> tuple[Path, int]:
    """Create and lock a file beside `path`, with its suffix."""
    while True:
        name = f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part{path.suffix}"
        part = path.with_name(name)
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        _lock(descriptor, wait=True)
        if part.exists():  # another process may have removed it before it was locked
            return part, descriptor
        os.close(descriptor)


def _lock(descriptor: int, wait: bool) -> bool:
    """Lock a file until it is closed; False where it is locked already or cannot be."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # held by its writer, or a file system without locks
        return False
    return True
