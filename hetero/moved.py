"""Old names of modules that moved: importing one warns and gives the module at its new place."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
import warnings
from collections.abc import Mapping

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
    """Finds modules by their old names, after all other finders have failed."""

    def find_spec(self, name, path=None, target=None):
        if name not in _new_names:
            return None
        return importlib.util.spec_from_loader(name, _MovedModuleLoader(_new_names[name]))


class _MovedModuleLoader(importlib.abc.Loader):
    """Puts the module with the new name under the old one."""

    def __init__(self, new_name: str):
        self._new_name = new_name

    def exec_module(self, module):
        name = module.__name__
        warnings.warn(
            f"the module {name} is now {self._new_name}; the old name goes with the next release",
            DeprecationWarning,
            stacklevel=2,
        )
        sys.modules[name] = importlib.import_module(self._new_name)
