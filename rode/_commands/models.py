"""Problems named on the command line: in a user's file, or one of the package's own."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rode.problems import standard_problems
from rode.problems.problem import Problem

BUILT_IN: dict[str, Any] = {
    "kanai-tajimi": standard_problems.kanai_tajimi,
    "relaxation": standard_problems.relaxation,
    "growth": standard_problems.growth,
}


def load_problem(target: str) -> Problem:
    """Return the problem of ``FILE.py:NAME``, or the built-in problem of this name.

    NAME is a `rode.Problem`, or a function without required arguments that returns one. It may be
    left out if the file has one `rode.Problem`.

    Raises
    ------
    OSError : the file does not exist
    ValueError : `target` names nothing, or the file has an error, which the message locates
    TypeError : the name stands for something else
    """
    if target in BUILT_IN:
        make: Callable[[], Problem] = BUILT_IN[target]
        return make()
    file, name = (target, "") if target.endswith(".py") else target.rpartition(":")[::2]
    if not file.endswith(".py") or not (name.isidentifier() or file == target):
        raise ValueError(
            f"PROBLEM must be FILE.py, FILE.py:NAME or one of {', '.join(BUILT_IN)}, got {target!r}"
        )
    path = Path(file)
    path.open("rb").close()  # a missing file is reported like any other
    module = _import_file(path)
    public = [n for n, value in vars(module).items() if isinstance(value, Problem)]
    hint = f"its problems are {', '.join(public)}" if public else "it holds no rode.Problem"
    if not name:
        different = {id(getattr(module, n)) for n in public}
        if len(different) != 1:
            raise ValueError(f"{path}: which problem? {hint}; name one, as in {path}:NAME")
        name = public[0]
    if not hasattr(module, name):
        raise ValueError(f"{path} has no {name!r}; {hint}")
    value = getattr(module, name)
    if callable(value) and not isinstance(value, Problem):
        value = _call(path, value)
    if not isinstance(value, Problem):
        raise TypeError(f"{target} must be a rode.Problem, or return one, got {value!r}")
    return value


def _import_file(path: Path) -> Any:
    """Run a file as a module; its folder is searched for what it imports."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None  # the suffix is .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    is_entered = sys.modules.setdefault(path.stem, module) is module  # dataclasses look it up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise _located(path, error) from None
    finally:
        sys.path.pop(0)
        if is_entered:  # a later import of that name is not meant for it
            del sys.modules[path.stem]
    return module


def _call(path: Path, function: Any) -> Any:
    """Call a function of the file without arguments."""
    required = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    if required:
        raise TypeError(
            f"{path}: {function.__name__} must need no arguments to make a problem, but needs "
            f"{', '.join(required)}"
        )
    try:
        return function()
    except (Exception, SystemExit) as error:
        raise _located(path, error) from None


def _located(path: Path, error: BaseException) -> ValueError:
    """Return an error that names the line of the user's file at which another one arose."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).resolve() == path.resolve()
    ]
    line = error.lineno if isinstance(error, SyntaxError) else (lines[-1] if lines else None)
    location = f"{path}, line {line}" if line else str(path)
    text = error.msg if isinstance(error, SyntaxError) else error
    return ValueError(f"{location}: {type(error).__name__}: {text}")
