"""Compilation of generated source code to Python functions."""

from __future__ import annotations

import itertools
import linecache
import sys
from collections.abc import Mapping
from types import FunctionType
from typing import Any

_numbers = itertools.count()


def compile_source(name: str, source: str, names: Mapping[str, Any]) -> FunctionType:
    """Return the function `name` that `source` defines, with `names` as its globals.

    Tracebacks show the source, and the function belongs to the module of the caller. Generate only
    code that cannot be written otherwise in Numba: registers and elements of tuples cannot be
    indexed by a variable.
    """
    file = f"<{name} {next(_numbers)}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    caller = sys._getframe(1).f_globals["__name__"]
    space = {**names, "__name__": caller}
    exec(compile(source, file, "exec"), space)
    function: FunctionType = space[name]
    return function
