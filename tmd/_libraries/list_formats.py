"""Lists of arguments in the formats of CORE-MATH, LLVM-libc and glibc.

`read` of a format yields the number of each line and its arguments as CORE-MATH writes them: one
or two numbers with a comma between them, perhaps with more behind. `write` yields lines.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from hetero import validation
from tmd._libraries.callables import BINARY16, BINARY32, BINARY64, LibraryPrecision
from tmd.errors import CertificateError
from tmd.formats import exponent, format_hexadecimal, to_fraction
from tmd.functions.function import working_precision

Point = tuple[Fraction, ...]
Lines = Iterator[tuple[int, str]]


class ListFormat(NamedTuple):
    """How a project writes its lists.

    Attributes
    ----------
    description : str
    is_like : callable (text) -> bool
    read : callable (text, function, arity or None, precision) -> iterator of (line number, text)
    write : callable (function, points, precision) -> iterator of lines
    """

    description: str
    is_like: Callable[[str], bool]
    read: Callable[[str, str, int | None, LibraryPrecision], Lines]
    write: Callable[[str, Iterable[Point], LibraryPrecision], Iterator[str]]


def choose_format(name: str | None, source: str, text: str) -> ListFormat:
    """Return a format by its name, or, for None, the one that a text looks like.

    Raises
    ------
    CertificateError
        It looks like none of them.
    """
    if name is not None:
        validation.check_choice("format", name, tuple(FORMATS))
        return FORMATS[name]
    for form in FORMATS.values():
        if form.is_like(text):
            return form
    first = next(((n, line) for n, line in _content(text) if line), (1, ""))
    kinds = ", or ".join(f"{form.description} ({name})" for name, form in FORMATS.items())
    raise CertificateError(
        f"line {first[0]} of {source} is {first[1][:80]!r}, but a list that is known here has "
        f"{kinds}"
    )


def _content(text: str) -> Iterator[tuple[int, str]]:
    """Yield the numbers of lines and their texts before a #."""
    for number, line in enumerate(text.splitlines(), 1):
        yield number, line.partition("#")[0].strip()


# ---- CORE-MATH ----------------------------------------------------------------------------------

_NUMBER = r"[+-]?(?:0[xX][\da-fA-F.]|\d|\.\d|[sq]?nan\b|inf)"


def _is_like_core_math(text: str) -> bool:
    lines = [line for _, line in _content(text) if line]
    return not lines or re.match(_NUMBER, lines[0], re.IGNORECASE) is not None


def _read_core_math(text: str, name: str, arity: int | None, precision: LibraryPrecision) -> Lines:
    return ((number, line) for number, line in _content(text) if line)


def _write_core_math(
    name: str, points: Iterable[Point], precision: LibraryPrecision
) -> Iterator[str]:
    yield f"# {name}: arguments of {precision.name}"
    for point in points:
        yield ",".join(map(format_hexadecimal, point))


# ---- LLVM-libc ----------------------------------------------------------------------------------

_ARRAY = re.compile(
    r"\barray\s*<\s*(?P<element>\w+)\s*,[^<>]*>\s+\w+\s*=?\s*\{"
    r"|\b(?P<type>\w+)\s*>?\s+\w+\s*(?:\[[^\]]*\]\s*)+=?\s*\{"
)
"""The head of an array: of numbers, of pairs as in `BinaryInput<double> INPUTS[] = {`, or an
`array<double, N>`."""
_ITEM = re.compile(r"\{|\}|[^\s,{}]+")
_WORDS = {"uint64_t": BINARY64, "uint32_t": BINARY32, "uint16_t": BINARY16}
_REALS = {"double": BINARY64, "float": BINARY32, "float16": BINARY16, "_Float16": BINARY16}
_TYPES = {precision: name for name, precision in [*_REALS.items()][:3]}


def _blank_comments(text: str) -> str:
    """Replace comments of C++ by spaces."""
    return re.sub(
        r"//[^\n]*|/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.DOTALL
    )


def _arrays(text: str) -> Iterator[re.Match]:
    """Yield the heads of arrays of numbers or of their bits; those of integers are left out."""
    return (head for head in _ARRAY.finditer(_blank_comments(text)) if not _is_integer(head))


def _kind(head: re.Match) -> str:
    """Return the type of the numbers in an array."""
    return str(head["element"] or head["type"])


def _is_integer(head: re.Match) -> bool:
    others = r"int|unsigned|size_t|char|bool|auto|u?int\w*_t"
    return _kind(head) not in _WORDS and re.fullmatch(others, _kind(head)) is not None


def _read_llvm(text: str, name: str, arity: int | None, precision: LibraryPrecision) -> Lines:
    """Read all arrays of numbers, or of the bits of numbers; a line for each point."""
    code = _blank_comments(text)
    for head in _arrays(text):
        depth, point = 1, list[str]()
        for item in _ITEM.finditer(code, head.end()):
            number = 1 + code.count("\n", 0, item.start())
            depth += {"{": 1, "}": -1}.get(item[0], 0)
            if depth == 0:
                break
            if item[0] not in "{}":
                point.append(_parse_item(_kind(head), item[0], number))
            if point and (depth == 1 or head["element"]):
                yield number, ",".join(point)
                point = []
        else:
            raise CertificateError(
                f"line {1 + code.count(chr(10), 0, head.start())} begins an array without an end: "
                "the file is cut off"
            )


def _parse_item(kind: str, item: str, number: int) -> str:
    """Return a number of C++ as CORE-MATH writes it; integers of arrays of words are bits."""
    item = item.replace("'", "")  # separates digits
    if kind not in _WORDS:
        has_suffix = "p" in item.lower() or "x" not in item.lower()
        text = re.sub(r"(?<=[\d.])(?:f16|[fFlL])$", "", item) if has_suffix else item
        if kind not in _REALS or item[-1] in "lL":
            return text
        try:
            return format_hexadecimal(_round(to_fraction("number", text), _REALS[kind]))
        except ValueError:  # an infinity, or a mistake that the caller names
            return text
    try:
        bits = int(re.sub(r"[uUlL]+$", "", item), 0)
        return format_hexadecimal(_number_of_bits(bits, _WORDS[kind]))
    except (ValueError, OverflowError):
        raise CertificateError(f"line {number} has {item!r} among words of {kind}") from None


def _unit(x: Fraction, precision: LibraryPrecision) -> Fraction:
    """Return the distance of neighbouring numbers of a precision around x, which is not 0."""
    return Fraction(2) ** max(exponent(x) - precision.digits + 1, precision.least_exponent)


def _round(x: Fraction, precision: LibraryPrecision) -> Fraction:
    """Return the nearest number of a precision, as compilers read a constant."""
    return round(x / _unit(x, precision)) * _unit(x, precision) if x else x


def _number_of_bits(bits: int, precision: LibraryPrecision) -> Fraction:
    """Return the finite number with these bits."""
    digits, least = precision.digits, precision.least_exponent
    width = {11: 16, 24: 32, 53: 64}[digits]
    e, m = bits >> (digits - 1) & ((1 << (width - digits)) - 1), bits & ((1 << (digits - 1)) - 1)
    if e == (1 << (width - digits)) - 1 or bits >> width:
        raise OverflowError
    m, e = (m | 1 << (digits - 1), e - 1) if e else (m, 0)
    return (-1 if bits >> (width - 1) else 1) * m * Fraction(2) ** (e + least)


def _write_llvm(name: str, points: Iterable[Point], precision: LibraryPrecision) -> Iterator[str]:
    suffix = {BINARY32: "f", BINARY16: "f16"}.get(precision, "")
    texts = [[format_hexadecimal(x) + suffix for x in point] for point in points]
    shape = "[]" if not texts or len(texts[0]) == 1 else "[][2]"
    yield f"// Arguments of {name}."
    yield f"constexpr {_TYPES[precision]} INPUTS{shape} = {{"
    for point in texts:
        yield f"    {point[0]}," if len(point) == 1 else f"    {{{', '.join(point)}}},"
    yield "};"


# ---- glibc --------------------------------------------------------------------------------------

_INPUT = re.compile(rf"=?\s*([A-Za-z_]\w*)\s+(?={_NUMBER}|[+-]?(?:\d*pi|e|max|min)\b|down|up|to)")
_CONSTANT = re.compile(r"([+-]?)(\d*)(pi|e)(?:/(\d+))?")
_ENDS = re.compile(r"([+-]?)(max|min|min_subnorm|min_subnorm_p120)")


def _is_like_glibc(text: str) -> bool:
    lines = [line for _, line in _content(text) if line]
    return bool(lines) and _INPUT.match(lines[0]) is not None


def _read_glibc(text: str, name: str, arity: int | None, precision: LibraryPrecision) -> Lines:
    """Read inputs of tests, or outputs, of which those of the precision to nearest are taken."""
    heads = set()
    for number, line in _content(text):
        if not line:
            continue
        head, *words = line.removeprefix("=").split()
        heads.add(head)
        if head != name:
            continue
        if line.startswith("="):
            if words[:2] == ["tonearest", precision.name]:
                if ":" not in words[3:]:
                    raise CertificateError(
                        f"line {number} has no number, or no result after a colon: {line!r}"
                    )
                yield number, ",".join(words[2 : words.index(":")])
            continue
        count = arity or 1
        choices = [_values(word, precision) for word in words[:count]]
        if len(words) < count:
            raise CertificateError(f"line {number} must have {count} arguments: {line!r}")
        for point in itertools.product(*choices):
            yield number, ",".join(point)
    if name not in heads:
        raise CertificateError(
            f"the list has no line of {name}, but those of {', '.join(sorted(heads)[:12])}"
        )


def _values(word: str, precision: LibraryPrecision) -> list[str]:
    """Return a number of the precision, or both neighbours of one that it does not have."""
    digits, least = precision.digits, precision.least_exponent
    if match := _ENDS.fullmatch(word):
        normal, top = Fraction(2) ** (least + digits - 1), Fraction(2) ** (3 - least - digits)
        sizes = {"max": top - top / 2**digits, "min": normal, "min_subnorm": Fraction(2) ** least}
        size = sizes.get(match[2], Fraction(2) ** (least + 120))
        return [format_hexadecimal(-size if match[1] == "-" else size)]
    if match := _CONSTANT.fullmatch(word):
        from flint import arb

        with working_precision(4 * digits):
            constant = arb.pi() if match[3] == "pi" else arb(1).exp()
            ball = constant * int(f"{match[1]}{match[2] or 1}") / int(match[4] or 1)
            mantissa, power = ball.mid().man_exp()
        x = Fraction(int(mantissa)) * Fraction(2) ** int(power)
    else:
        try:
            x = to_fraction("number", word)
        except ValueError:  # NaN, infinity, or a mistake that the caller names
            return [word]
    if x == 0:
        return [word]
    unit = _unit(x, precision)
    neighbours = sorted({f(x / unit) * unit for f in (math.floor, math.ceil)})
    return [format_hexadecimal(x) for x in neighbours]


def _write_glibc(name: str, points: Iterable[Point], precision: LibraryPrecision) -> Iterator[str]:
    yield f"# Arguments of {precision.name}."
    for point in points:
        yield " ".join([name, *map(format_hexadecimal, point)])


FORMATS = {
    "llvm": ListFormat(
        "arrays of numbers in C++", lambda text: any(_arrays(text)), _read_llvm, _write_llvm
    ),
    "core-math": ListFormat(
        "a number or two with a comma on each line", _is_like_core_math, _read_core_math,
        _write_core_math,
    ),
    "glibc": ListFormat(
        "the function's name before its arguments", _is_like_glibc, _read_glibc, _write_glibc
    ),
}  # fmt: skip
"""The formats by their names, in the order in which they are tried."""


def write_list(
    form: str, name: str, points: Sequence[Point], precision: LibraryPrecision
) -> Iterator[str]:
    """Yield the lines of a list in a format."""
    validation.check_choice("format", form, tuple(FORMATS))
    return FORMATS[form].write(name, points, precision)
