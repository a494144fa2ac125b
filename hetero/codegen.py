"""Functions from generated source."""

from __future__ import annotations

import itertools
import linecache

_numbers = itertools.count()


def compile_source(name: str, source: str, names: dict):
    """Return the function `name` that `source` defines, with `names` as its globals.

    Tracebacks show the source. Only for code that Numba cannot be given otherwise: registers and
    the elements of tuples have no running index.
    """
    file = f"<{name} {next(_numbers)}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    space = dict(names)
    exec(compile(source, file, "exec"), space)
    return space[name]
