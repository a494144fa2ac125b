"""Texts of loops over items: Numba has no loop that passes any number of arguments on."""

from __future__ import annotations

import inspect
from typing import Any

from hetero.codegen import compile_source


def fill_in(text: str, item: Any, leading: int, **names: Any) -> Any:
    """Return the function `run` of a text, in which ARGUMENTS stands for those of an item after
    the first `leading` ones, which are the loop's own."""
    arguments = ", ".join(list(inspect.signature(item).parameters)[leading:])
    return compile_source("run", text.replace("ARGUMENTS", arguments), names | {"item": item})
