"""The files of compiled code: where they are, and how they are read and written.

All are in one folder, which holds nothing else: `heterokit-compiled-code` in HETERO_CACHE_DIR, or
in the user's cache. It has a file that marks it as ours, and a folder for each package, versions
and state of what extends Numba. Only this user can read them. A folder that belongs to somebody
else, or that others can write to, is not used. Reading and writing never fail: if a file is absent,
damaged or not to be trusted, the caller compiles, and a warning says once why nothing is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

from hetero.compile_cache import pruning, secure_files

NAME = "heterokit-compiled-code"
"""Name of the folder that holds everything."""

TAG = "CACHEDIR.TAG"
"""Name of the file that marks the folder. Programs for backups know it (bford.info/cachedir)."""

TAG_CONTENT = b"""Signature: 8a477f597d28d172789f06886806bc55
# heterokit keeps compiled code here. The folder can be removed at any time.
"""

CLAIMS = "claims"
"""Name of the file that processes lock while they compile."""

_MAGIC = b"heterokit compiled code 2\n"
_DIGEST = hashlib.sha256().digest_size

_reported_places: set[str] = set()
_claims: dict[str, int] = {}  # descriptors, by the folder; closing one would end its locks


def is_enabled() -> bool:
    """Return whether compiled code is kept on disk: yes, unless HETERO_CACHE is 0."""
    return os.environ.get("HETERO_CACHE", "1").strip().lower() not in ("0", "false", "no", "off")


def root() -> Path:
    """Return the folder of all compiled code; it may not exist yet.

    It is in HETERO_CACHE_DIR, or else in NUMBA_CACHE_DIR or in the user's cache. Raises OSError if
    a variable names no absolute path, or if the user has no home folder.
    """
    for variable in ("HETERO_CACHE_DIR", "NUMBA_CACHE_DIR"):
        if chosen := os.environ.get(variable):
            path = _expanded(chosen)
            if not path.is_absolute():
                raise OSError(f"{variable} must be an absolute path, got {chosen!r}")
            return path / NAME
    return user_cache() / NAME


def user_cache() -> Path:
    """Return the folder for files of this user that can be made again.

    Raises OSError if the user has no home folder.
    """
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        base = Path(local) if local else _expanded("~") / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = _expanded("~") / "Library" / "Caches"
    else:
        chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
        base = chosen if chosen.is_absolute() else _expanded("~") / ".cache"
    return base / "hetero"


def _expanded(path: str) -> Path:
    """Return a path with its `~` replaced; raise OSError if nothing is known about that home."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise OSError("the user has no home folder") from error


def read(folder: str, name: str) -> bytes | None:
    """Return what was written under a name; None if it is absent, damaged or not to be trusted."""
    try:
        with _opened_root() as base, secure_files.opened_folder(folder, within=base) as descriptor:
            content = secure_files.read_file(name, descriptor)
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn_that_nothing_is_kept(error)
        return None
    data = content[len(_MAGIC) + _DIGEST :]
    return data if content.startswith(_MAGIC + hashlib.sha256(data).digest()) else None


def write(folder: str, name: str, data: bytes) -> None:
    """Write data under a name, whole or not at all; warn once if that is impossible."""
    head = _MAGIC + hashlib.sha256(data).digest()
    try:
        _make_root()
        with _opened_root() as base:
            secure_files.make_folder(folder, within=base)
            with secure_files.opened_folder(folder, within=base) as descriptor:
                secure_files.write_file(name, descriptor, head, data)
            pruning.prune_if_due(base, len(data))
    except OSError as error:
        _warn_that_nothing_is_kept(error)


def open_claims() -> int:
    """Return a descriptor of the file that processes lock; it stays open as long as the process.

    Raises OSError if there can be none.
    """
    location = str(root())
    if location not in _claims:
        _make_root()
        with _opened_root() as base:
            _claims[location] = secure_files.open_own_file(CLAIMS, base)
    return _claims[location]


@contextlib.contextmanager
def _opened_root() -> Iterator[int]:
    """Yield a descriptor of the folder that holds everything, if it is certainly ours."""
    path = root()
    with secure_files.opened_folder(path) as descriptor:
        try:
            content = secure_files.read_file(TAG, descriptor)
        except FileNotFoundError:
            content = b""
        if content != TAG_CONTENT:
            raise secure_files.UntrustedError(f"{path} holds no {TAG} of heterokit")
        yield descriptor


def _make_root() -> None:
    """Make the folder that holds everything, with its mark, unless something has its name."""
    path = root()
    if os.path.lexists(path):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f"{NAME}.", dir=path.parent))
    try:
        os.chmod(new, 0o700)
        with secure_files.opened_folder(new) as descriptor:
            secure_files.write_file(TAG, descriptor, TAG_CONTENT)
        with contextlib.suppress(OSError):  # another process was faster
            new.rename(path)
    finally:
        shutil.rmtree(new, ignore_errors=True)  # only if it was not renamed


def _warn_that_nothing_is_kept(error: OSError) -> None:
    """Say once per place why nothing is kept; where warnings are errors, say it to the log."""
    try:
        location = str(root())
    except OSError:
        location = "the user's cache"
    if location in _reported_places:
        return
    _reported_places.add(location)
    reason = (error.strerror if error.errno else None) or str(error)
    message = (
        f"compiled code cannot be kept in {location} ({reason}), so every process compiles again. "
        "Set HETERO_CACHE_DIR to a folder of your own, or HETERO_CACHE=0"
    )
    try:
        warnings.warn(message, stacklevel=2)
    except UserWarning:  # the user's filter makes it an error, but the result is right
        logging.getLogger(__name__).warning(message)
