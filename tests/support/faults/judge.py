"""The verdict on a call with one odd argument: a result, or an error that names the argument."""

from __future__ import annotations

import copy
import importlib
import operator
import re
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from matplotlib import pyplot

from faults.odd_values import FUNCTIONS, NONSENSE, ODD_VALUES
from hetero import DeviceUnavailableError


@dataclass(frozen=True)
class Call:
    """A public callable with arguments that it accepts, which `arguments` returns by keyword."""

    name: str  # "package.function" or "package.Class.method"
    function: Callable[..., Any]
    arguments: Callable[[], dict[str, Any]]
    # By argument, the names in NONSENSE that it takes on purpose; "all" for any.
    nonsense: dict[str, tuple[str, ...]] = field(default_factory=dict)
    untold: tuple[str, ...] = ()  # what is anything on purpose, such as a user's function
    known_as: dict[str, tuple[str, ...]] = field(default_factory=dict)  # other words in errors
    takes_functions: tuple[str, ...] = ()  # what may be a function of users, with errors of theirs
    endless: dict[str, tuple[str, ...]] = field(default_factory=dict)  # valid, but it takes hours
    takes_long: bool = False  # a single call takes more than some milliseconds

    def cases(self) -> Iterator[tuple[str, str]]:
        """Yield argument and name of the odd value of each case."""
        for argument in self.arguments():
            if argument not in self.untold:
                for odd in ODD_VALUES:
                    is_function = odd in FUNCTIONS and argument in self.takes_functions
                    if not is_function and odd not in self.endless.get(argument, ()):
                        yield argument, odd


@dataclass(frozen=True)
class Later:
    """A value that is made when a call needs it, because that takes long."""

    make: Callable[[], Any]


def good(
    name: str,
    function: Callable[..., Any] | None = None,
    /,
    owner: Callable[[], Any] | None = None,
    **settings: Any,
) -> Call:
    """Return a call with good arguments, of which `settings` has those that `Call` knows.

    Without a function it is what has the public name, or that method of what `owner` returns.
    """
    options = {f.name: settings.pop(f.name) for f in fields(Call)[3:] if f.name in settings}
    package, _, path = name.partition(",")[0].partition(" ")[0].partition(".")

    def arguments() -> dict[str, Any]:
        return {
            key: value.make() if isinstance(value, Later) else copy.deepcopy(value)
            for key, value in settings.items()
        }

    def call_method(**arguments: Any) -> Any:
        result = getattr(owner(), path.rpartition(".")[2])(**arguments)
        if path.endswith("plot"):  # a figure would stay in memory
            pyplot.close(result)
        return result

    if owner is not None:
        function = call_method
    elif function is None:
        function = operator.attrgetter(path)(importlib.import_module(package))
    return Call(name, function, arguments, **options)


ALLOWED = (TypeError, ValueError, MemoryError, DeviceUnavailableError, OSError)
"""Exceptions that a bad argument may cause; the errors of the packages are ValueErrors."""


def verdict(call: Call, argument: str, odd: str) -> str | None:
    """Return what is wrong with the outcome of a call with this argument replaced; None if nothing.

    The outcome is right if the error is one of `ALLOWED` and names the argument, or if there is a
    result where the value may be one, and if the values of all arguments are what they were.
    """
    arguments = call.arguments() | {argument: ODD_VALUES[odd]()}
    before = {name: _snapshot(value) for name, value in arguments.items()}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            call.function(**arguments)
        except ALLOWED as error:
            return _fault_of_error(call, argument, error)
        except Exception as error:
            return f"raises {_last_line(error)}"
    changed = [
        name
        for name, value in arguments.items()
        if not name.startswith("out") and before[name] != _snapshot(value)
    ]
    if changed:
        return f"changes {', '.join(changed)}"
    accepted = call.nonsense.get(argument, ())
    if odd in NONSENSE and odd not in accepted and "all" not in accepted:
        return "is accepted"
    return None


def verdict_on_good_arguments(call: Call) -> str | None:
    """Return why a call with its good arguments fails; None if it succeeds."""
    try:
        call.function(**call.arguments())
    except Exception as error:
        return f"good arguments fail: {_last_line(error)}"
    return None


def _fault_of_error(call: Call, argument: str, error: Exception) -> str | None:
    """Return why an error of an allowed type is no good error; None if it is one."""
    words = [argument, *call.known_as.get(argument, ())]
    if "out" in call.arguments():  # which does not suit arguments of another shape
        words.append("out")
    said = str(error)
    if any(re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", said) for word in words):
        return None
    if isinstance(error, MemoryError | DeviceUnavailableError) and said:
        return None
    return f"does not name the argument: {_last_line(error)}"


def _last_line(error: BaseException) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    text = " ".join(str(error).split())[:160]
    return f"{type(error).__name__}: {text} ({place.filename.rpartition('/')[2]}:{place.lineno})"


def _snapshot(value: Any) -> Any:
    """Return what tells whether an array, list or dictionary has changed."""
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.shape, value.dtype, np.asarray(value).tobytes()
    if isinstance(value, list | dict):
        return repr(value)
    return None
