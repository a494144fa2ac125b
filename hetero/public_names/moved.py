"""Old names of modules and arguments, which give a warning and work for one more release."""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import warnings
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_new_names: dict[str, str] = {}


def redirect_modules(new_names: Mapping[str, str]) -> None:
    """Let the modules named by the keys be imported from where the values say.

    Each import of an old name raises a DeprecationWarning that names the new one. Old names are
    kept for one release.
    """
    _new_names.update(new_names)
    if not any(isinstance(finder, _MovedModuleFinder) for finder in sys.meta_path):
        sys.meta_path.append(_MovedModuleFinder())


def is_moved(name: str) -> bool:
    """Return whether `name` is the old name of a module."""
    return name in _new_names


class _MovedModuleFinder(importlib.abc.MetaPathFinder):
    """Finder of modules by their old names, called after all other finders have failed."""

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return a spec that imports the module by its new name, or None if it has not moved."""
        if name not in _new_names:
            return None
        return importlib.util.spec_from_loader(name, _MovedModuleLoader(_new_names[name]))


class _MovedModuleLoader(importlib.abc.Loader):
    """Loader that makes the module with the new name available under the old one."""

    def __init__(self, new_name: str):
        self._new_name = new_name

    def exec_module(self, module: ModuleType) -> None:
        """Warn that the name is old, and put the module with the new name in its place."""
        name = module.__name__
        warnings.warn(
            f"the module {name} is now {self._new_name}; the next release removes the old name",
            DeprecationWarning,
            stacklevel=2,
        )
        sys.modules[name] = importlib.import_module(self._new_name)


def renamed_arguments(**new_names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function's keyword arguments be passed by their old names for one more release.

    `@renamed_arguments(random_state="rng")` turns `random_state=1` into `rng=1`, with a
    DeprecationWarning. Raises TypeError if both names are given.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in new_names.keys() & kwargs.keys():
                new = new_names[old]
                if new in kwargs:
                    raise TypeError(f"{function.__name__}() got both {old} and {new}; pass {new}")
                warnings.warn(
                    f"the argument {old} of {function.__name__}() is now {new}; the next "
                    "release removes the old name",
                    DeprecationWarning,
                    stacklevel=2,
                )
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate
