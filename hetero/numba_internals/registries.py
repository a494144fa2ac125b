"""Tables of what Numba can compile: types, functions, and extensions that give them meanings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numba.core.extending import _Intrinsic as Intrinsic
from numba.core.imputils import builtin_registry as lowerings
from numba.core.registry import cpu_target
from numba.core.typing.templates import builtin_registry as templates

from hetero.deferred_signals import DeferredSignals

__all__ = ["Intrinsic", "definition_of", "is_known", "processor", "registrations"]


def definition_of(intrinsic: Intrinsic) -> Any:
    """Return the Python function that an intrinsic was made of."""
    return intrinsic._defn


def is_known(value: Any) -> bool:
    """Return whether Numba has a type for a value, such as an implementation of a function."""
    # Numba reads its tables through generators, which an exception in them would end for good.
    with DeferredSignals():
        context = cpu_target.typing_context
        context.refresh()
        try:
            context.resolve_value_type(value)
        except ValueError:
            return False
        return True


def processor() -> tuple[str, str, str]:
    """Return LLVM's triple, name and features of the processor for which Numba compiles."""
    with DeferredSignals():
        triple, name, features = cpu_target.target_context.codegen().magic_tuple()
        return triple, name, features


def registrations() -> Iterator[tuple[str, Any]]:
    """Yield what is registered as an extension: ("template", class) or ("lowering", function)."""
    for template in (*templates.functions, *templates.attributes):
        yield "template", template
    for registered in (
        *(lowerings.functions, lowerings.getattrs, lowerings.setattrs),
        *(lowerings.casts, lowerings.constants),
    ):
        for function, *_ in registered:
            yield "lowering", function
