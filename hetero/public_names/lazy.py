"""Public names that are imported at their first use, so that `import <package>` costs nothing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping

from hetero.public_names.moved import is_moved
from hetero.public_names.whole_imports import import_whole


def lazy_attributes(
    package: str,
    names: Mapping[str, Iterable[str]],
    modules: Iterable[str] = (),
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` for a package's `__init__`.

    Parameters
    ----------
    package : str
        Its `__name__`.
    names : mapping of str to str
        For each module (in full) the public names that it holds.
    modules : iterable of str
        Public submodules.

    Notes
    -----
    Ctrl-C is deferred while a module of the package is imported (`import_whole`).
    `dir(package)`, and so tab completion, shows the names in `__all__`, also those that `__init__`
    appends to it.
    """
    import_whole(package)
    module_of = {name: module for module, names_in in names.items() for name in names_in}
    submodules = frozenset(modules)

    def get_attribute(name: str) -> object:
        if name in submodules:
            return importlib.import_module(f"{package}.{name}")
        if is_moved(f"{package}.{name}"):
            return importlib.import_module(f"{package}.{name}")
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    exported = sorted([*module_of, *submodules])

    def list_names() -> list[str]:
        return sorted({*exported, "__version__"})

    return get_attribute, list_names, exported
