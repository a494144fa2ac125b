"""Calls of a function under a rounding mode of C's fenv.h, with the exceptions that it raises."""

from __future__ import annotations

import ctypes
import functools
import platform
from collections.abc import Callable
from typing import Any

from hetero import validation

MODES = ("nearest", "up", "down", "zero")

_X86 = {"nearest": 0, "down": 0x400, "up": 0x800, "zero": 0xC00}
_ARM = {"nearest": 0, "up": 0x400000, "down": 0x800000, "zero": 0xC00000}
_NUMBERS: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "x86_64": (_X86, {"overflow": 8, "underflow": 16, "inexact": 32}),
    "aarch64": (_ARM, {"overflow": 4, "underflow": 8, "inexact": 16}),
}
"""The macros FE_... of fenv.h by machine: rounding modes, and exceptions."""


def check_modes(name: str, modes: Any) -> tuple[str, ...]:
    """Return rounding modes that a user has named: one, several, or "all"."""
    chosen = (modes,) if isinstance(modes, str) else tuple(modes)
    if chosen == ("all",):
        return MODES
    if not chosen:
        raise ValueError(f"{name} must name at least one of {', '.join(MODES)}, or be 'all'")
    for mode in chosen:
        validation.check_choice(name, mode, (*MODES, "all"))
    return tuple(mode for mode in MODES if mode in chosen or "all" in chosen)


class Environment:
    """The floating-point environment of the thread that calls.

    Raises ValueError if it cannot be changed on this machine.
    """

    def __init__(self) -> None:
        machine = platform.machine()
        library = _libm()
        if machine not in _NUMBERS or library is None:
            raise ValueError(
                f"modes: rounding modes and flags are known for {', '.join(_NUMBERS)} with a C "
                f"library that has fenv.h, not for {machine}: use modes='nearest' without flags"
            )
        self._library = library
        self._modes, self._flags = _NUMBERS[machine]
        self._all_flags = sum(self._flags.values())

    @property
    def address(self) -> int:
        """Address of fesetround, for compiled code."""
        return ctypes.cast(self._library.fesetround, ctypes.c_void_p).value or 0

    def number(self, mode: str) -> int:
        """Return the number of a rounding mode in fenv.h."""
        return self._modes[mode]

    def call(
        self, function: Callable[[float], float], x: Any, mode: str
    ) -> tuple[float, frozenset[str]]:
        """Return function(*x) as computed under a rounding mode, and the flags that it raised.

        The mode holds for the call alone, in this thread.
        """
        before = self._library.fegetround()
        try:
            self._library.feclearexcept(self._all_flags)
            if self._library.fesetround(self._modes[mode]):
                raise ValueError(f"modes: this machine has no rounding mode {mode!r}")
            value = function(*x)
            raised = self._library.fetestexcept(self._all_flags)
        finally:
            self._library.fesetround(before)
        return value, frozenset(flag for flag, bit in self._flags.items() if raised & bit)


@functools.cache
def _libm() -> Any:
    """Return a library with fesetround; None if there is none."""
    for name in (None, "libm.so.6", "libm.so"):
        try:
            library = ctypes.CDLL(name)
            library.fesetround  # noqa: B018
        except (OSError, AttributeError):
            continue
        return library
    return None
