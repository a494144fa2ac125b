"""Checked reading of TOML and JSON files: errors name the file, the key and the remedy."""

from __future__ import annotations

import difflib
import json
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hetero.validation import check_finite, check_in_range, check_integer

T = TypeVar("T")

_MISSPELT = 0.75
"""Likeness (of difflib) from which on a key may be another one, misspelt: "step" and "steps" have
0.89, "stop" and "steps" 0.67."""

REQUIRED: Any = object()
"""Default of keys that must be present."""


class Table:
    """A table of a file, whose values are taken one by one; at the end none may be left.

    Parameters
    ----------
    values : what the file holds
    file : name of the file, for messages
    name : name of the table with dots, such as "solids.ball"; "" for the whole file
    """

    def __init__(self, values: Mapping[str, Any], file: str, name: str = ""):
        self.file, self.name = file, name
        self._values, self._known = dict(values), dict[str, None]()

    def __contains__(self, key: str) -> bool:
        self._known[key] = None
        return key in self._values

    def full_name(self, key: str) -> str:
        """Return the name of a key with those of the tables around it."""
        return f"{self.name}.{key}" if self.name else key

    def error(self, key: str, message: str) -> ValueError:
        """Return an error about the value of a key; the message follows its name."""
        return ValueError(f"{self.file}: {self.full_name(key)} {message}")

    def take(self, key: str, default: Any = REQUIRED) -> Any:
        """Return the value of a key as it is, or the default."""
        self._known[key] = None
        if key in self._values:
            return self._values[key]
        if default is REQUIRED:
            raise self.error(key, f"is missing{self.hint_at(key)}")
        return default

    def hint_at(self, *missing: str) -> str:
        """Return a hint at a key of the table that looks like a missing one; empty if none does."""
        unknown = [key for key in self._values if key not in self._known]
        for key in missing:
            if near := difflib.get_close_matches(key, unknown, n=1, cutoff=_MISSPELT):
                return f": is {self.full_name(near[0])!r} meant to be {key!r}?"
        return ""

    def check(self, key: str, default: Any, function: Callable[..., T], *arguments: Any) -> T:
        """Return function(name, value, *arguments) of a value, or the default as it is."""
        value = self.take(key, default)
        if key not in self._values:
            return value
        try:
            return function(self.full_name(key), value, *arguments)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self.file}: {error}") from None

    def number(self, key: str, default: Any = REQUIRED) -> float:
        """Return a finite number."""
        return self.check(key, default, check_finite)

    def positive(self, key: str, default: Any = REQUIRED, *, or_zero: bool = False) -> float:
        """Return a positive number, or 0 if it is allowed."""
        if key not in self:
            return self.number(key, default)
        value = self.number(key)
        if value < 0.0 or (value == 0.0 and not or_zero):
            raise self.error(key, f"must be {'0 or ' * or_zero}positive, got {value!r}")
        return value

    def in_range(self, key: str, low: float, high: float, default: Any = REQUIRED) -> float:
        """Return a number in [low, high]."""
        return self.check(key, default, check_in_range, low, high)

    def integer(self, key: str, default: Any = REQUIRED, least: int = 0) -> int:
        """Return an integer of at least `least`."""
        return self.check(key, default, check_integer, least)

    def boolean(self, key: str, default: Any = REQUIRED) -> bool:
        """Return true or false."""
        value = self.take(key, default)
        if not isinstance(value, bool):
            raise self.error(key, f"must be true or false, got {value!r}")
        return value

    def text(self, key: str, default: Any = REQUIRED) -> str:
        """Return a text."""
        value = self.take(key, default)
        if key in self._values and not (isinstance(value, str) and value):
            raise self.error(key, f"must be a text, got {value!r}")
        return value

    def choice(self, key: str, options: Sequence[str], default: Any = REQUIRED) -> str:
        """Return one of the texts `options`; an error suggests the nearest one."""
        value = self.take(key, default)
        if key in self._values and value not in options:
            listed = ", ".join(map(repr, options))
            raise self.error(key, f"must be one of {listed}, got {value!r}{_guess(value, options)}")
        return value

    def vector(self, key: str, default: Any = REQUIRED, length: int = 3) -> tuple[float, ...]:
        """Return `length` finite numbers."""
        value = self.take(key, default)
        if key not in self._values:
            return value
        words = {2: "two", 3: "three"}[length]
        if not isinstance(value, list) or len(value) != length:
            raise self.error(key, f"must hold {words} numbers, got {value!r}")
        try:
            return tuple(check_finite(self.full_name(key), number) for number in value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self.file}: {error}") from None

    def table(self, key: str, default: Any = REQUIRED) -> Table:
        """Return a table; the default is a mapping, or None."""
        value = self.take(key, default)
        if value is None and key not in self._values:
            return None  # type: ignore[return-value]  # the caller asked for it
        if not isinstance(value, Mapping):
            raise self.error(key, f"must be a table, got {value!r}")
        return Table(value, self.file, self.full_name(key))

    def tables(self, key: str) -> Iterator[tuple[str, Table]]:
        """Yield the names and the tables in a table, of which there may be none."""
        outer = self.table(key, {})
        for name in outer._values:
            yield name, outer.table(name)

    def keys(self) -> list[str]:
        """Return the keys that the table has."""
        return list(self._values)

    def finish(self) -> None:
        """Raise ValueError if there are keys that nobody has asked for."""
        for key in self._values:
            if key not in self._known:
                keys = list(self._known)
                raise ValueError(
                    f"{self.file}: unknown key {self.full_name(key)!r}{_guess(key, keys)}; "
                    f"{f'[{self.name}]' if self.name else 'the top level'} may have "
                    f"{', '.join(keys)}"
                )


def _guess(value: object, options: Sequence[str]) -> str:
    """Return a question that suggests the option nearest to a value; empty if none is near."""
    near = difflib.get_close_matches(str(value), options, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def read_toml(path: Path) -> Table:
    """Read a TOML file.

    Raises
    ------
    OSError : the file cannot be read
    ValueError : it is not valid TOML
    """
    try:
        return Table(tomllib.loads(path.read_bytes().decode("utf-8")), str(path))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        hint = '; keys with a plus need quotes, as "x+"' if "after a key" in str(error) else ""
        raise ValueError(f"{path}: not a valid TOML file: {error}{hint}") from None


def read_json(path: Path) -> Table:
    """Read a JSON file that holds an object.

    Raises
    ------
    OSError : the file cannot be read
    ValueError : it is not valid JSON, or holds something else
    """
    try:
        values = json.loads(path.read_bytes(), parse_constant=lambda _: math.nan)
    except ValueError as error:
        raise ValueError(f"{path}: not a valid JSON file: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{path}: must hold a JSON object, got {type(values).__name__}")
    return Table(values, str(path))
