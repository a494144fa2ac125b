"""Files that are complete or absent: written beside their target, then renamed."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not on this system: partial files of killed processes are left alone
    fcntl = None  # type: ignore[assignment]  # a module that is absent


@contextlib.contextmanager
def name_file_in_errors(path: Path) -> Iterator[None]:
    """Let errors of the system in the block name `path` if they name no file, as on a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


@contextlib.contextmanager
def replace_atomically(path: Path) -> Iterator[Path]:
    """Yield the path of an empty file that replaces `path` at the end of the `with` block.

    If the block raises, `path` is unchanged and the new file is removed. The folder is created if
    necessary. Partial files that killed processes have left are removed first; those whose writer
    is alive are locked. A device or a pipe, such as /dev/stdout, is written to itself.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: pass the path of a file in it")
    if path.exists() and not path.is_file():
        with name_file_in_errors(path):
            yield path
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned_parts(path)
    part, descriptor = _create_part(path)
    try:
        with name_file_in_errors(path):
            yield part
            os.fsync(descriptor)
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)
        os.close(descriptor)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a file of lines, which is complete or unchanged."""
    with replace_atomically(path) as part:
        part.write_text("\n".join(lines) + "\n")


def write_json(path: Path, value: Any, indent: int | None = None) -> None:
    """Write a file with a value in JSON, which is complete or unchanged."""
    write_lines(path, [json.dumps(value, indent=indent)])


def require_writable(path: Path) -> None:
    """Raise OSError if `replace_atomically` could not write `path` now; nothing is changed."""
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    if path.is_file() or not path.exists():
        part, descriptor = _create_part(path)
        part.unlink(missing_ok=True)
        os.close(descriptor)


def remove_abandoned_parts(path: Path) -> None:
    """Remove the partial files of processes that were killed while they wrote `path`."""
    for name in _find_parts(path):
        with contextlib.suppress(OSError):  # another process may remove it at the same time
            descriptor = os.open(name, os.O_RDWR)
            try:
                if _lock(descriptor, wait=False):
                    os.unlink(name)
            finally:
                os.close(descriptor)


def _find_parts(path: Path) -> list[Path]:
    """Return the partial files of `path`: those with a name as `_create_part` gives them."""
    pattern = re.compile(
        rf"{re.escape(path.name)}\.[0-9]+-[0-9a-f]{{8}}\.part{re.escape(path.suffix)}"
    )
    return [other for other in path.parent.iterdir() if pattern.fullmatch(other.name)]


def _create_part(path: Path) -> tuple[Path, int]:
    """Create and lock a partial file beside `path` that ends with the same suffix."""
    while True:
        name = f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}.part{path.suffix}"
        part = path.with_name(name)
        try:
            descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
        _lock(descriptor, wait=True)
        if part.exists():  # otherwise another process has removed it before it was locked
            return part, descriptor
        os.close(descriptor)


def _lock(descriptor: int, wait: bool) -> bool | None:
    """Lock a file until it is closed; return False if another holds it, None without locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # the file system has no locks
        return None
    return True


@contextlib.contextmanager
def lock_name(path: Path, wait: bool, keep_file: bool = False) -> Iterator[bool]:
    """Yield whether no other process has locked a name, which is locked while the block runs.

    The system releases the locks of a process that ends. Where it has none, the answer is yes. The
    file of this name, which is created if there is none, is removed at the end unless it is kept.
    """
    descriptor, is_ours = _lock_file(path, wait)
    try:
        yield is_ours
    finally:
        if is_ours and not keep_file:
            path.unlink(missing_ok=True)
        os.close(descriptor)


def _lock_file(path: Path, wait: bool) -> tuple[int, bool]:
    """Return the descriptor of a file of this name, and whether it is locked now."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            is_locked = _lock(descriptor, wait)
            if not is_locked or os.path.samestat(path.stat(), os.fstat(descriptor)):
                return descriptor, is_locked is not False
        except FileNotFoundError:  # the process that held the lock has removed the file
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
