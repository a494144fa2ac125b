"""Dispatchers: the objects that Numba's decorators make of functions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NoReturn

from numba.core import bytecode
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature


def is_for_cpu(value: Any) -> bool:
    """Return whether a value is a function that Numba compiles for the CPU."""
    return isinstance(value, Dispatcher)


def number_functions_from(first: int) -> None:
    """Let Numba give this number to the next function that it compiles, and count on from there.

    The number is in the names of symbols.
    """
    bytecode.FunctionIdentity._unique_ids = itertools.count(first)


def wrap_compilations(dispatcher: Any, wrap: Callable[[Callable], Callable]) -> None:
    """Replace the methods through which a dispatcher compiles by what `wrap` makes of them."""
    dispatcher._compile_for_args = wrap(dispatcher._compile_for_args)
    dispatcher.compile = wrap(dispatcher.compile)


def refuse_calls(dispatcher: Any, error: type[Exception]) -> None:
    """Let every call of a dispatcher raise an error instead of running what was compiled."""

    def refuse(*_arguments: object, **_keywords: object) -> NoReturn:
        raise error

    # A dispatcher that has forgotten its machine code calls `_compile_for_args`.
    dispatcher._reset_overloads()
    dispatcher._compile_for_args = refuse


class _CalledAsWritten(CPUDispatcher):  # type: ignore[misc]  # Numba has no types
    """A function that calls from Python run as it is written."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.py_func(*arguments, **keywords)


def call_as_written(dispatcher: Any) -> None:
    """Let calls from Python run a function as it is written; compiled code calls it compiled."""
    dispatcher.__class__ = _CalledAsWritten


def argument_types(signature: Any) -> tuple:
    """Return the types of the arguments in a signature that Numba gives to a cache."""
    return tuple(normalize_signature(signature)[0])


def set_cache(dispatcher: Any, cache: Any) -> None:
    """Let a dispatcher ask this cache before it compiles."""
    dispatcher._cache = cache


def cache_of(dispatcher: Any) -> Any:
    """Return the cache that a dispatcher asks before it compiles."""
    return dispatcher._cache


def compiler_of(dispatcher: Any) -> tuple:
    """Return the class that compiles a function, and the types that are given to variables."""
    compiler = getattr(dispatcher, "_compiler", None)
    return () if compiler is None else (compiler.pipeline_class, compiler.locals)


def variant_for_gpu(dispatcher: Any) -> Any:
    """Return what numba-cuda has made of a function for the CPU that a kernel calls, or None."""
    return getattr(dispatcher, "_CUDATypingContext__dispatcher", None)
