"""Files that only this user (or the administrator) can have written.

Compiled code is machine code: whoever can write a file that is loaded runs as the user. So folders
and files are opened without following links, and their owner and rights are read from the open
descriptor, not from the name, which could mean something else a moment later.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_OTHERS_CAN_WRITE = stat.S_IWGRP | stat.S_IWOTH

PARTIAL = ".partial"
"""Suffix of a file that is being written."""


class UntrustedError(OSError):
    """A file or a folder that somebody else may have written."""


@contextlib.contextmanager
def opened_folder(path: Path | str, *, within: int | None = None) -> Iterator[int]:
    """Yield a descriptor of a folder that is the user's own and that nobody else can write to.

    `path` may be a name in the open folder `within`. Raises UntrustedError for a folder of somebody
    else or one that others can write to, and OSError for a link or where there is no folder.
    """
    descriptor = os.open(path, _FOLDER, dir_fd=within)
    try:
        check_trusted(descriptor, path)
        yield descriptor
    finally:
        os.close(descriptor)


def make_folder(path: Path | str, *, within: int | None = None) -> bool:
    """Make a folder for this user alone; return False if something with its name exists."""
    try:
        os.mkdir(path, 0o700, dir_fd=within)
    except FileExistsError:
        return False
    os.chmod(path, 0o700, dir_fd=within)  # the umask may have removed the user's own rights
    return True


def check_trusted(descriptor: int, path: Path | str) -> None:
    """Raise UntrustedError unless an open file or folder is the user's, or the administrator's."""
    if not hasattr(os, "geteuid"):
        return  # this system has other means than owners and modes
    status = os.fstat(descriptor)
    if status.st_uid not in (os.geteuid(), 0):
        raise UntrustedError(f"{path} belongs to another user")
    if status.st_mode & _OTHERS_CAN_WRITE:
        raise UntrustedError(f"other users can write to {path}")


def read_file(name: str, folder: int) -> bytes:
    """Return the content of a regular file in an open folder, and record that it was used.

    Raises OSError if there is none that can be trusted.
    """
    descriptor = os.open(name, _READ, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UntrustedError(f"{name} is not a regular file")
        check_trusted(descriptor, name)
        with contextlib.suppress(OSError):  # the administrator's files have no record of use
            os.utime(descriptor)
        return file.read()


def open_own_file(name: str, folder: int) -> int:
    """Return a descriptor of a file in an open folder that only this user can read and write.

    The file is made if it is absent. Raises UntrustedError if somebody else may have written it.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(name, flags, 0o600, dir_fd=folder)
    try:
        check_trusted(descriptor, name)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def write_file(name: str, folder: int, *parts: bytes) -> None:
    """Write a file whole, or not at all, into an open folder; only this user can read it."""
    partial = f"{name}.{secrets.token_hex(8)}{PARTIAL}"
    descriptor = os.open(partial, _CREATE, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o600)
            file.writelines(parts)
        os.replace(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(partial, dir_fd=folder)
        raise
