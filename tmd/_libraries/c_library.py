"""Functions of C libraries: only those that the library itself exports.

The dynamic loader finds a symbol in the libraries on which a library depends, too: a library
without `exp` that is linked with libm would be judged by the libm of this machine.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_LISTED = 12
"""Number of exported functions that a message names."""

_LINK_MAP = 2
"""RTLD_DI_LINKMAP of dlfcn.h: the request for the file that belongs to a handle."""


class _LinkMap(ctypes.Structure):
    _fields_ = (("address", ctypes.c_void_p), ("name", ctypes.c_char_p))


class _SymbolInfo(ctypes.Structure):
    """Dl_info of dlfcn.h."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


_STATES: dict[str, tuple[int, ...]] = {}
"""Device, inode, size and time of change of each file that this process has loaded, by its path."""


class CLibrary:
    """A C library that is loaded from a path, or by a name that the loader searches for.

    Parameters
    ----------
    source : str or Path
        Text without a slash is a name such as "libm.so.6"; all else is the path of a file.

    Raises
    ------
    ValueError
        It cannot be loaded; a name is also that of a file in this folder; or the file has changed
        since this process loaded it, because the loader would return the old code.
    """

    def __init__(self, source: str | Path) -> None:
        self.path = str(source)
        name = _loader_name(source)
        try:
            self._handle = ctypes.CDLL(name)
        except OSError as error:
            raise ValueError(f"library {self.path!r} cannot be loaded: {error}") from None
        if os.path.isabs(name):
            _require_unchanged(name)

    def find(
        self, symbol: str, number: type = ctypes.c_double, arity: int = 1
    ) -> Callable[..., float]:
        """Return the function `number symbol(number)`, or that of two arguments.

        Raises ValueError, with the names of similar functions, if the library does not export it.
        """
        function = getattr(self._handle, symbol, None)
        if function is None or not self._is_own(function):
            similar = ", ".join(self._similar_to(symbol)) or "none with a similar name"
            raise ValueError(
                f"library {self.path!r} exports no function {symbol!r} (it exports {similar}); "
                "name another one by symbol= or --symbol"
            )
        function.restype, function.argtypes = number, [number] * arity
        return function

    def _is_own(self, function: ctypes._NamedFuncPointer) -> bool:
        """Return whether a function is in this library rather than in one on which it depends."""
        file, library = _file_of_function(function), self.file()
        return file is None or library is None or file.resolve() == library.resolve()

    def file(self) -> Path | None:
        """Return the file that was loaded; None where the system does not tell."""
        if not sys.platform.startswith("linux"):
            return Path(self.path) if Path(self.path).exists() else None
        entry = ctypes.POINTER(_LinkMap)()
        handle = ctypes.c_void_p(self._handle._handle)
        failed = ctypes.CDLL(None).dlinfo(handle, _LINK_MAP, ctypes.byref(entry))
        name = None if failed else entry.contents.name
        return Path(name.decode()) if name else None

    def _similar_to(self, symbol: str) -> list[str]:
        """Return the names of exported functions, those that contain `symbol` first."""
        file = self.file()
        names = [] if file is None else _exported_functions(file)
        return sorted(names, key=lambda name: (symbol not in name, name))[:_LISTED]


def _loader_name(source: str | Path) -> str:
    """Return what the loader takes for a source: the absolute path of a file, or a name.

    A relative path is not enough: the loader identifies a path that it has seen by its text, even
    if the current folder has changed since.
    """
    name = str(source)
    if isinstance(source, str) and os.path.basename(source) == source:
        if os.path.exists(source):
            raise ValueError(
                f"library {name!r} is the name of a file in this folder, and the loader would "
                f"search for it elsewhere: write './{name}' for this file, or another's whole path"
            )
        return name
    return os.path.abspath(source)


def _require_unchanged(path: str) -> None:
    """Raise ValueError if a loaded file is not the one that this process loaded at first."""
    facts = os.stat(path)
    state = facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns
    if _STATES.setdefault(path, state) != state:
        raise ValueError(
            f"library {path!r} has changed since this process loaded it, and the loader returns "
            "the old code: start another process, or build under another name"
        )


def _file_of_function(function: ctypes._NamedFuncPointer) -> Path | None:
    """Return the file in which a function is; None where the system does not tell."""
    info = _SymbolInfo()
    dladdr = getattr(ctypes.CDLL(None), "dladdr", None)
    address = ctypes.cast(function, ctypes.c_void_p)
    is_known = dladdr is not None and dladdr(address, ctypes.byref(info))
    return Path(info.file.decode()) if is_known and info.file else None


def _exported_functions(file: Path) -> list[str]:
    """Return the names of the functions that an ELF file exports; none for other files."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with file.open("rb") as stream:
            table: Any = ELFFile(stream).get_section_by_name(".dynsym")
            symbols = [] if table is None else list(table.iter_symbols())
    except (OSError, ELFError):
        return []
    kinds = ("STT_FUNC", "STT_GNU_IFUNC", "STT_LOOS")  # the last two: chosen when it is loaded
    return [
        symbol.name
        for symbol in symbols
        if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["type"] in kinds
    ]
