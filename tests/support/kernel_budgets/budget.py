"""The budget of a kernel, and how tables of budgets are written."""

import re
from dataclasses import dataclass
from types import FunctionType

from numba import types

f4, f8 = types.float32, types.float64
c8, c16 = types.complex64, types.complex128
u4, u8 = types.uint32, types.uint64

_NUMBERS = {
    **{f"i{size}": getattr(types, f"int{8 * size}") for size in (1, 4, 8)},
    **{f"u{size}": getattr(types, f"uint{8 * size}") for size in (1, 2, 4, 8)},
    **{"f4": f4, "f8": f8, "bool": types.boolean},
}
_REALS = {f4: f4, f8: f8, c8: f4, c16: f8}


def array(dtype, ndim=1):
    return types.Array(dtype, ndim, "C")


@dataclass(frozen=True)
class Budget:
    """Limits of a compiled kernel. Spills are not allowed (compile_cuda.allowed_spills)."""

    words: str  # types of the arguments, as `read_types` reads them
    names: dict
    registers: int
    float64: bool = True  # whether .f64 instructions are allowed
    slow: bool = False  # whether only slow tests compile it

    @property
    def signature(self) -> tuple:
        """Types of the arguments."""
        return read_types(self.words, **self.names)


def read_budgets(package: str, table: str, slow: str = "", **names) -> dict[str, Budget]:
    """Read a table that has a line for each kernel: its name, its registers, types of arguments.

    A type is written like f8 (a number of 8 bytes), i8* and i8** (arrays of one and two axes) or
    3xf8* (three of them in a tuple). `names` has other types, and what stands in braces. T is the
    type of a variant of kernels, if there is one, and R its real type: registers like 48/64 are
    those of single and double precision, and ! forbids .f64 instructions except in double
    precision. Only slow tests compile the kernels whose names have a match of `slow`.
    """
    is_double = _REALS[names.get("T", f4)] is f8
    budgets = {}
    for line in filter(None, map(str.strip, table.format(**names).splitlines())):
        name, registers, words = line.split(maxsplit=2)
        name = f"{package}.{name}"
        single, _, double = registers.replace("!", "").partition("/")
        budgets[name] = Budget(
            words, names, int(double or single) if is_double else int(single),
            is_double or "!" not in registers, bool(slow and re.search(slow, name)),
        )  # fmt: skip
    return budgets


def read_types(text: str, **names) -> tuple:
    """Return the types that the words of a text stand for.

    Instead of a type, a name may have a function that finds it, for which no import has to wait.
    """
    known = _NUMBERS | {"R": _REALS[names.get("T", f4)]} | names
    found = []
    for word in text.split():
        count, name, stars = re.fullmatch(r"(?:(\d+)x)?(\w+?)(\**)", word).groups()
        element = known[name]() if isinstance(known[name], FunctionType) else known[name]
        element = array(element, len(stars)) if stars else element
        found.append(types.UniTuple(element, int(count)) if count else element)
    return tuple(found)
