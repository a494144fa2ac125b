"""Digests of the sources that Python runs while Numba compiles.

Numba sees compiled functions by value, but it calls the Python code of intrinsics, and asks types
and operators that were registered with it. That code is known by its file and by the files of the
project that this one imports, found in their texts. Comments, line numbers and formatting do not
count: what is hashed are the code objects into which Python compiles the files.

What `hetero.jit` makes is not followed: compiled functions are values.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader

from hetero.compile_cache import sources
from hetero.compile_cache.code_objects import fingerprint_of

_NOT_FOLLOWED = {"hetero.jit"}

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]*))", re.M
)
_FOR_TYPES_ONLY = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+[^\n]*\n|[ \t]*\n)*", re.M)

_EXTENDS_NUMBA = re.compile(
    rb"\bnumba\.(?:cuda\.)?extending\b(?! import intrinsic\n)|\bnumba\.core\b(?!\.errors)"
    rb"|^[ \t]*from numba import (?:\([^)]*|[^\n(]*)\b(?:extending|core)\b",
    re.M,
)
"""A file that may register types or operators, or that takes part in compiling. One that imports
nothing but `intrinsic` does not: intrinsics are seen where they are used."""


def digest_of(file: str) -> str:
    """Return a digest of a file of a registered package and of all that it imports there.

    Raises SourcesChangedError if one of the files has changed since its package was imported.
    """
    return _digest_of_modules(_closure((_module_of(file),)))


def digest_of_extensions(package: str) -> str:
    """Return a digest of the files of a package and of `hetero` that extend Numba without a trace.

    Raises SourcesChangedError if one of the files has changed since its package was imported.
    """
    return _digest_of_modules(_closure(_extensions(package)))


@functools.cache
def _extensions(package: str) -> tuple[str, ...]:
    """Return the modules of a package and of `hetero` that register something with Numba."""
    modules = {
        name: path for p in {package, sources.FOUNDATION} for name, path in _modules(p).items()
    }
    return tuple(sorted(name for name, path in modules.items() if _extends_numba(path)))


def _extends_numba(path: str) -> bool:
    content = _read(path)
    return b"numba" in content and _EXTENDS_NUMBA.search(content) is not None


def _digest_of_modules(modules: tuple[str, ...]) -> str:
    """Return the digest of modules in the state in which they were imported."""
    sources.require_unchanged(tuple((name, _path_of(name)) for name in modules))
    return _hash(modules)


@functools.cache
def _hash(modules: tuple[str, ...]) -> str:
    """Return a hash of the code of modules."""
    total = hashlib.sha256()
    for name in modules:
        total.update(f"{name}\n".encode() + _fingerprint(name))
    return total.hexdigest()


@functools.cache
def _fingerprint(module: str) -> bytes:
    """Return the fingerprint of a module's code, which Python keeps in a .pyc file."""
    code = SourceFileLoader(module, _path_of(module)).get_code(module)
    assert code is not None
    return fingerprint_of(code)


@functools.cache
def _closure(modules: tuple[str, ...]) -> tuple[str, ...]:
    """Return modules, and those that they import directly or by way of others, sorted."""
    reached, open_ = set(modules), list(modules)
    while open_:
        new = _imports(open_.pop()) - reached
        reached |= new
        open_ += new
    return tuple(sorted(reached))


@functools.cache
def _imports(module: str) -> frozenset[str]:
    """Return the modules of the project that a module imports, at its top or in functions."""
    path = _path_of(module)
    is_package = path.endswith("__init__.py")
    parents = module.split(".") if is_package else module.split(".")[:-1]
    imported: set[str] = set()
    for origin, names, plain in _IMPORT.findall(_FOR_TYPES_ONLY.sub("", _read(path).decode())):
        if plain:
            imported |= {name for name in re.findall(r"[\w.]+", plain) if _is_known(name)}
            continue
        level = len(origin) - len(origin.lstrip("."))
        base = ".".join(
            [*parents[: len(parents) - level + 1], origin[level:]] if level else [origin]
        )
        imported |= set(_resolve(base.rstrip("."), re.findall(r"\w+", names)))
    return frozenset(imported - _NOT_FOLLOWED)


def _resolve(base: str, names: list[str]) -> Iterator[str]:
    """Yield the modules that `from base import names` reads."""
    if not _is_known(base):
        return
    lazy = _lazy_names(base)
    for name in names:
        if _is_known(f"{base}.{name}"):
            yield f"{base}.{name}"
        elif name in lazy:
            yield lazy[name]
        else:
            yield base


@functools.cache
def _lazy_names(package: str) -> dict[str, str]:
    """Return the modules in which the names of a stub `__init__.pyi` are, by name."""
    stub = f"{_path_of(package)}i"
    if not os.path.isfile(stub):
        return {}
    pairs = re.findall(r"^from \.([\w.]*) import (\w+) as", _read(stub).decode(), re.M)
    return {
        name: f"{package}.{module}" if module else f"{package}.{name}" for module, name in pairs
    }


def _is_known(name: str) -> bool:
    """Return whether a dotted name is that of a module of a registered package."""
    top = name.partition(".")[0]
    return sources.is_registered(top) and name in _modules(top)


@functools.cache
def _modules(package: str) -> dict[str, str]:
    """Return the files of a registered package by the names of their modules."""
    return {
        f"{package}.{name[:-3]}".replace("/", ".").removesuffix(".__init__"): path
        for name, path in sources.files_of(package).items()
    }


def _path_of(module: str) -> str:
    return _modules(module.partition(".")[0])[module]


@functools.cache
def _module_of(file: str) -> str:
    """Return the name of the module of a file; raise SourcesChangedError if it is a new file."""
    for package in sources.packages():
        for name, path in _modules(package).items():
            if path == file:
                return name
    raise sources.SourcesChangedError(f"{file} is not a source that was there at the import")


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise sources.SourcesChangedError(f"{path} cannot be read") from error
