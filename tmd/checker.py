"""A checker of certificates that stands alone: python-flint and the standard library, no tmd.

    python checker.py CERTIFICATE.json CASES.wc [--windows 100] [--seed 0]

It proves, in ball arithmetic and exact integers,

1. that each listed argument is a case, of which kind, and that every block has exactly the cases
   whose hash the certificate states;
2. that the blocks cover the domain: that all arguments outside of them have no value, the value 0,
   or a trivial rounding, and that ulp and sign of f are constant over each block;
3. that on each block Taylor polynomials of the stated degree and length are closer to f than the
   distance of a case, so that the search, which keeps what is closer than twice that, may use them;
4. in random windows, half of them around listed cases, that no case is missing: all arguments
   near breakpoints are enumerated by Euclid's algorithm from a line with a proven error, and
   decided by balls.

Of a periodic search, whose certificate has windows of phases x/pi modulo 1, it proves

1. that each listed argument is a case, of the stated kind, with a phase that was asked for;
2. that windows cover all phases, but those near zeros and poles, where it decides all arguments;
3. that in every window the slab around the tangent of f contains the tangent at each case, and
   that the values have no other ulps than those searched;
4. in random windows, half of them with a listed case, that no case is missing: a walk over all
   arguments of the window, by the three lengths of steps that return to an interval of phases.

What stays trusted: Arb (python-flint), Python's integers, BLAKE2b, this file, and, for all windows
that are not drawn, that the search did what it says. `tmd verify` repeats it.
"""

from __future__ import annotations

import argparse
import bisect
import hashlib
import itertools
import json
import random
import sys
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from flint import arb, arb_series, ctx, fmpq

FORMATS = {
    "bfloat16": (8, -126, 127),
    "binary16": (11, -14, 15),
    "x87": (64, -16382, 16383),
    24: (24, -126, 127),
    53: (53, -1022, 1023),
}
PRECISIONS = (256, 512, 1024, 2048, 4096, 8192)
WINDOW_BITS = 100
"""Bits after the point of the numbers in the enumeration of a window."""


def _cbrt(x: Any) -> Any:
    return -_cbrt(-x) if _constant_term(x) < 0 else (x.log() / 3).exp()


def _asinh(x: Any) -> Any:
    return -_asinh(-x) if _constant_term(x) < 0 else (x + (x * x + 1).sqrt()).log()


def _lgamma(x: Any) -> Any:
    gamma = x.gamma()
    return (-gamma if _constant_term(gamma) < 0 else gamma).log()


def _constant_term(x: Any) -> Any:
    """Return the value of a ball or the first coefficient of a series."""
    return x[0] if isinstance(x, arb_series) else x


VALUES: dict[str, Any] = {
    "exp": lambda x: x.exp(),
    "exp2": lambda x: (x * arb(2).log()).exp(),
    "exp10": lambda x: (x * arb(10).log()).exp(),
    "expm1": lambda x: x.exp() - 1,
    "exp2m1": lambda x: (x * arb(2).log()).exp() - 1,
    "exp10m1": lambda x: (x * arb(10).log()).exp() - 1,
    "log": lambda x: x.log(),
    "log2": lambda x: x.log() / arb(2).log(),
    "log10": lambda x: x.log() / arb(10).log(),
    "log1p": lambda x: (1 + x).log(),
    "log2p1": lambda x: (1 + x).log() / arb(2).log(),
    "log10p1": lambda x: (1 + x).log() / arb(10).log(),
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "tan": lambda x: x.sin() / x.cos(),
    "asin": lambda x: x.asin(),
    "acos": lambda x: arb.pi() / 2 - x.asin(),
    "atan": lambda x: x.atan(),
    "sinpi": lambda x: (x * arb.pi()).sin(),
    "cospi": lambda x: (x * arb.pi()).cos(),
    "tanpi": lambda x: (x * arb.pi()).sin() / (x * arb.pi()).cos(),
    "asinpi": lambda x: x.asin() / arb.pi(),
    "acospi": lambda x: arb(0.5) - x.asin() / arb.pi(),
    "atanpi": lambda x: x.atan() / arb.pi(),
    "sinh": lambda x: (x.exp() - (-x).exp()) / 2,
    "cosh": lambda x: (x.exp() + (-x).exp()) / 2,
    "tanh": lambda x: 1 - 2 / ((2 * x).exp() + 1),
    "asinh": _asinh,
    "acosh": lambda x: (x + (x * x - 1).sqrt()).log(),
    "atanh": lambda x: ((1 + x) / (1 - x)).log() / 2,
    "cbrt": _cbrt,
    "rsqrt": lambda x: 1 / x.sqrt(),
    "erf": lambda x: x.erf(),
    "erfc": lambda x: 1 - x.erf(),
    "tgamma": lambda x: x.gamma(),
    "lgamma": _lgamma,
}
"""Each function, for a ball and for a power series."""

LIMITS = (Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(-1, 2), Fraction(2))
"""Floats to which functions may be trivially close, near 0 or near infinity."""


class Refused(Exception):
    """A statement of the certificate or the list that is wrong, or cannot be proved."""


def ball(x: Fraction) -> Any:
    """Return x as a ball."""
    return arb(fmpq(x.numerator, x.denominator))


def exponent(x: Fraction) -> int:
    """Return e with 2^e <= |x| < 2^(e+1)."""
    e = abs(x.numerator).bit_length() - x.denominator.bit_length()
    return e if abs(x) >= Fraction(2) ** e else e - 1


def parse(text: str) -> Fraction:
    """Parse a fraction, a decimal or a hexadecimal number."""
    is_hexadecimal = "0x" in text.lower()
    if abs(int(text.lower().partition("p" if is_hexadecimal else "e")[2] or "0")) > 1 << 16:
        raise ValueError(f"the exponent of {text} is too large")
    if not is_hexadecimal:
        return Fraction(text)
    sign, _, digits = text.lower().strip().rpartition("0x")
    digits, _, power = digits.partition("p")
    whole, _, part = digits.partition(".")
    value = Fraction(int(whole + part, 16)) * Fraction(2) ** (int(power or "0") - 4 * len(part))
    return -value if sign.startswith("-") else value


class Statement:
    """Statements that both kinds of certificates have, and the decision of an argument."""

    def __init__(self, certificate: dict, lines: list[str], windows: int, seed: int) -> None:
        body = {k: v for k, v in certificate.items() if k != "hash"}
        text = json.dumps(body, sort_keys=True, separators=(",", ":"))
        if hashlib.blake2b(text.encode(), digest_size=16).hexdigest() != certificate["hash"]:
            raise Refused("the certificate's hash does not match its content")
        if certificate["function"] not in VALUES:
            raise Refused(f"no formula for {certificate['function']!r} is known here")
        self.name, self.f = certificate["function"], VALUES[certificate["function"]]
        self.bits, self.rounding = certificate["bits"], certificate["rounding"]
        if type(self.bits) is not int or self.bits < 4:  # with fewer, a case is of both kinds
            raise Refused(f"bits must be an integer of at least 4, not {self.bits!r}")
        self.kinds = {"all": "FM", "nearest": "M", "directed": "F"}[self.rounding]
        self.values = self._format(certificate["precision"])
        rows = [row for line in lines if (row := line.partition("#")[0].split())]
        self.list = [parse(row[0]) for row in rows]
        self.stated = {x: row[1] for x, row in zip(self.list, rows, strict=True) if len(row) > 1}
        if any("# undecided" in line for line in lines):
            raise Refused("the list has undecided arguments, about which nothing is proved")
        self.windows, self.random = windows, random.Random(seed)

    @staticmethod
    def _format(name: Any) -> tuple[int, int | None, int | None]:
        """Return digits, emin and emax, which are None if the exponent is unlimited."""
        form = tuple(name) if isinstance(name, list) else FORMATS.get(name, (name, None, None))
        digits, *ends = form
        # The phases below have enough digits for arguments of 64.
        if type(digits) is not int or not 2 <= digits <= 64 or (
            ends != [None, None] and [*map(type, ends)] != [int, int]
        ):  # fmt: skip
            raise Refused(f"{name!r} is no format of 2 to 64 digits")
        return digits, ends[0], ends[1]

    def ulp(self, e: int) -> int | None:
        """Return log2 of the ulp of values with exponent e; None if they round trivially."""
        digits, low, high = self.values
        if low is None or high is None:
            return e - digits + 1
        return None if e > high or e < low - digits - 1 else max(e, low) - digits + 1

    def value(self, x: Any, e: int, bits: int = 256) -> Any:
        """Return f of a ball or number of about 2^e, with a cancellation-proof precision."""
        ctx.prec = bits + 64 + 4 * abs(e)
        return self.f(ball(x) if isinstance(x, Fraction) else x)

    def require_stated(self, x: Fraction, kind: str) -> None:
        """Refuse a list that states another kind for an argument."""
        if self.stated.get(x, kind) != kind:
            raise Refused(f"{float(x).hex()} is of kind {kind}, not {self.stated[x]} as listed")

    def find_kind(self, x: Fraction, ulp: int) -> str | None:
        """Return F or M if x is a case, None if not."""
        for bits in PRECISIONS:
            y = abs(self.value(x, exponent(x), bits)) * arb(2) ** -ulp
            limit, verdicts = arb(2) ** -self.bits, []
            for kind, z in (("F", y), ("M", y + arb(0.5))):
                nearest = (z + arb(0.5)).floor().unique_fmpz()
                # A value that is the breakpoint itself touches it at every precision.
                d = abs(z - (z + arb(0.5)).mid().floor()) if nearest is None else abs(z - nearest)
                verdicts.append(kind if d < limit else "" if d >= limit else "?")
            if "?" not in verdicts:
                kinds = [k for k in verdicts if k]
                return kinds[0] if kinds else None
        raise Refused(f"{x} cannot be decided with {PRECISIONS[-1]} bits")


class Checker(Statement):
    """Proves a certificate of blocks, step by step; each raises Refused."""

    def __init__(self, certificate: dict, lines: list[str], windows: int, seed: int) -> None:
        super().__init__(certificate, lines, windows, seed)
        self.lo, self.hi = map(parse, certificate["domain"])
        self.numbers = self._format(certificate["argument_precision"])
        columns = certificate["columns"]
        self.blocks = [dict(zip(columns, b, strict=True)) for b in certificate["blocks"]]

    def steps(self) -> tuple:
        """Return the proofs, in their order."""
        return self.check_list, self.check_coverage, self.check_bounds, self.check_windows

    # ---- 1. the list ---------------------------------------------------------------------------

    def check_list(self) -> str:
        """Prove each listed case, and that no block has others."""
        cases_of: list[dict[int, str]] = [{} for _ in self.blocks]
        kinds = {"all": "FM", "nearest": "M", "directed": "F"}[self.rounding]
        for x in self.list:
            k = self._block_of(x)
            if k is None:
                raise Refused(f"{float(x).hex()} is listed, but in no block")
            kind = self.find_kind(x, self.blocks[k]["ulp"])
            if kind is None or kind not in kinds:
                raise Refused(f"{float(x).hex()} is listed, but is no case")
            self.require_stated(x, kind)
            number = (
                int(abs(x) / Fraction(2) ** self.blocks[k]["quantum"]) - self.blocks[k]["first"]
            )
            if number in cases_of[k]:
                raise Refused(f"{float(x).hex()} is listed twice")
            cases_of[k][number] = kind
        self.found = cases_of
        for b, cases in zip(self.blocks, cases_of, strict=True):
            digest = hashlib.blake2b(digest_size=12)
            order = sorted(cases)
            digest.update(b"".join(n.to_bytes(8, "little") for n in order))
            digest.update(bytes(cases[n] == "M" for n in order))
            if len(cases) != b["cases"] or b["undecided"] or digest.hexdigest() != b["hash"]:
                raise Refused(f"the list differs from the block that begins at {b['first']}")
        return f"{len(self.list)} cases are proved, and no block has others"

    def _block_of(self, x: Fraction) -> int | None:
        """Return the number of the block of an argument."""
        if not hasattr(self, "starts"):
            self.starts = sorted((self.argument(b, 0 if b["sign"] > 0 else b["count"] - 1), k)
                                 for k, b in enumerate(self.blocks))  # fmt: skip
        i = bisect.bisect_right(self.starts, (x, len(self.blocks))) - 1
        if i < 0:
            return None
        k = self.starts[i][1]
        b = self.blocks[k]
        number = abs(x) / Fraction(2) ** b["quantum"] - b["first"]
        inside = number.denominator == 1 and 0 <= number < b["count"] and x * b["sign"] > 0
        return k if inside else None

    def argument(self, block: dict, number: int) -> Fraction:
        """Return an argument of a block, by its number."""
        power = Fraction(2) ** block["quantum"]
        return Fraction(block["sign"] * (block["first"] + number)) * power

    # ---- 2. coverage ---------------------------------------------------------------------------

    def check_coverage(self) -> str:
        """Prove that what is in no block needs no search, and that blocks have one ulp and sign."""
        digits, low, high = self.numbers
        outside = 0
        for b in self.blocks:
            quantum, first, last = b["quantum"], b["first"], b["first"] + b["count"] - 1
            is_normal = first >> (digits - 1) == 1 == last >> (digits - 1)
            is_subnormal = low is not None and quantum == low - digits + 1 and last < 1 << digits
            ends = self.argument(b, 0), self.argument(b, b["count"] - 1)
            if not (is_normal or is_subnormal) or not self.lo <= min(ends) <= max(ends) < self.hi:
                raise Refused(f"the block at {first} 2^{quantum} is not of arguments of the domain")
            self.prove_constant(b, 0, b["count"])
        for sign in (1, -1):
            ends = (self.lo, self.hi) if sign > 0 else (-self.hi, -self.lo)
            if ends[1] <= 0:
                continue
            least = Fraction(2) ** (low - digits + 1) if low is not None else ends[0]
            near, far = max(ends[0], least), ends[1]
            for e in range(exponent(near), exponent(far) + 1):
                quantum = (e if low is None else max(e, low)) - digits + 1
                if quantum > e or (high is not None and e > high):
                    continue
                unit = Fraction(2) ** quantum
                begin = max(near / unit, Fraction(1 << (e - quantum)))
                end = min(far / unit, Fraction(2 << (e - quantum)))
                first = -(-begin // 1) if sign > 0 else begin // 1 + (begin == near / unit)
                first = max(first, 1 << (e - quantum))
                stop = -(-end // 1) if sign > 0 else min(end // 1 + 1, 2 << (e - quantum))
                tiles = sorted((b["first"], b["first"] + b["count"]) for b in self.blocks
                               if b["sign"] == sign and b["quantum"] == quantum
                               and first <= b["first"] < stop)  # fmt: skip
                for start, after in [*tiles, (stop, stop)]:
                    if start < first:
                        raise Refused(f"blocks overlap at {start} 2^{quantum}")
                    if first < start:
                        self.prove_idle(sign, quantum, int(first), int(start))
                        outside += int(start - first)
                    first = after
        return f"{len(self.blocks)} blocks cover the domain but {outside} arguments without search"

    def prove_constant(self, b: dict, begin: int, end: int) -> None:
        """Prove that ulp and sign of f are those of the block for some of its arguments."""
        ends = self.argument(b, begin), self.argument(b, end - 1)
        y = self.enclose(*ends)
        if y.is_finite() and bool(y < 0 if b["negative"] else y > 0):
            ulps = {self.ulp(_exponent(abs(z))) for z in (y.lower(), y.upper())}
            if ulps == {b["ulp"]}:
                return
        if end - begin == 1:
            # An exact power of two touches it at every precision: compare the neighbourhood.
            if y.is_finite() and self.ulp(_exponent(abs(y).upper())) == b["ulp"]:
                return
            raise Refused(f"f({float(ends[0]).hex()}) does not have the ulp 2^{b['ulp']}")
        middle = (begin + end) // 2
        self.prove_constant(b, begin, middle)
        self.prove_constant(b, middle, end)

    def enclose(self, one: Fraction, other: Fraction) -> Any:
        """Return a ball of all values between two arguments of one sign."""
        e = max(abs(exponent(one)), abs(exponent(other)))
        ctx.prec = 256 + 4 * e
        if one == other:
            return self.value(one, e)
        whole, middle = ball(one).union(ball(other)), ball((one + other) / 2)
        with _order(3):
            slope = self._series(whole)[1]
        # The mean value theorem gives a much smaller ball than f of a wide one.
        return self.f(middle) + slope * (whole - middle)

    def _series(self, x: Any) -> Any:
        try:
            return self.f(arb_series([x, 1]))
        except ValueError:  # a denominator contains 0
            return arb_series([arb.nan()] * 30)

    def prove_idle(self, sign: int, quantum: int, first: int, stop: int) -> None:
        """Prove that arguments outside of all blocks have no value or a trivial one."""
        unit = Fraction(2) ** quantum
        ends = sign * first * unit, sign * (stop - 1) * unit
        if self._is_idle(*ends):
            return
        if stop - first == 1:
            raise Refused(f"{float(ends[0]).hex()} is in no block, but must be searched")
        middle = (first + stop) // 2
        self.prove_idle(sign, quantum, first, middle)
        self.prove_idle(sign, quantum, middle, stop)

    def _is_idle(self, one: Fraction, other: Fraction) -> bool:
        """Return whether all arguments between two have no value, or one that rounds trivially."""
        if self._is_outside(one) and self._is_outside(other):
            return True
        if self.name in ("sinpi", "cospi", "tanpi") and exponent(one) >= self.numbers[0] - 2:
            return True  # multiples of 1/2
        y = self.enclose(one, other)
        if one == other and (not y.is_finite() or y.contains(0)):
            return True
        low, high = self.values[1:]
        if low is not None and high is not None:
            tiny = arb(2) ** (low - self.values[0] - 1)
            if abs(y) < tiny or abs(y) > arb(2) ** (high + 1):
                return True
        x = ball(one).union(ball(other))
        near_zero = self._is_tangent(2) or self._is_tangent(3)
        ulp = self.ulp(exponent(one))
        if one == other and near_zero and ulp is not None and (
            abs(y - x) < arb(2) ** (ulp - self.bits)
        ):  # fmt: skip
            return True
        with _order(4):
            gap = self._series(ball(Fraction(0)).union(x))
        for k in (2, 3):  # f(x) = x + c x^k
            if ulp is not None and abs(gap[k] * x**k) < arb(2) ** (ulp - self.bits) and (
                gap[1] - 1
            ).contains(0) and self._is_tangent(k):  # fmt: skip
                return True
        for limit in LIMITS:
            e = exponent(limit)
            for ulp in (self.ulp(e), self.ulp(e - 1)):
                if ulp is not None and abs(y - ball(limit)) < arb(2) ** (ulp - self.bits):
                    return True
        return False

    def _is_tangent(self, k: int) -> bool:
        """Return whether f(x) = x + O(x^k) at 0."""
        odd = ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh")
        return self.name in (odd if k == 3 else ("expm1", "log1p"))

    def _is_outside(self, x: Fraction) -> bool:
        """Return whether f is not defined at x."""
        least = {"log": 0, "log2": 0, "log10": 0, "rsqrt": 0, "acosh": 1}
        least |= dict.fromkeys(("log1p", "log2p1", "log10p1"), -1)
        if self.name in ("asin", "acos", "asinpi", "acospi", "atanh"):
            return abs(x) > 1
        return self.name in least and x < least[self.name]

    # ---- 3. bounds -----------------------------------------------------------------------------

    def check_bounds(self) -> str:
        """Prove that Taylor's remainder is below the distance of a case, block by block."""
        blocks = [b for b in self.blocks if b["algorithm"] != "balls"]
        for b in blocks:
            step, pieces = b["quantum"] + b["size"] - 1, min(64, b["count"] >> b["size"]) or 1
            order = b["degree"] + 1
            count = -(-b["count"] >> b["size"]) << b["size"]  # the last one may reach beyond
            for i in range(pieces):
                ends = (self.argument(b, count * j // pieces) for j in (i, i + 1))
                ctx.prec = 192 + 4 * abs(exponent(self.argument(b, 0)))
                one, other = map(ball, ends)
                with _order(order + 1):
                    c = self._series(one.union(other))[order]
                remainder = abs(c) * arb(2) ** (order * step - b["ulp"])
                if not remainder < arb(2) ** -self.bits:
                    raise Refused(f"the polynomials of the block at {b['first']} are not accurate")
        return f"the polynomials of {len(blocks)} blocks are closer to f than a case"

    # ---- 4. windows ----------------------------------------------------------------------------

    def check_windows(self) -> str:
        """Enumerate all cases in random windows, and compare with the list."""
        cases = 0
        for _ in range(self.windows if self.blocks else 0):
            k = self.random.randrange(len(self.blocks))
            near = None
            if self.list and self.random.random() < 0.5:  # around a listed case
                near = self.random.choice(self.list)
                k = self._block_of(near) or 0
            b = self.blocks[k]
            is_short = b["algorithm"] == "balls"
            length = 64 if is_short else self._window_length(b)
            length = min(length, b["count"])
            begin = self.random.randrange(b["count"] - length + 1)
            if near is not None:
                number = int(abs(near) / Fraction(2) ** b["quantum"]) - b["first"]
                begin = min(number, max(0, number - self.random.randrange(length)))
                begin = min(begin, b["count"] - length)
            window = self._enumerate(b, begin, length, is_short)
            listed = {n: kind for n, kind in self.found[k].items() if begin <= n < begin + length}
            if window != listed:
                raise Refused(
                    f"the window of {length} arguments from {float(self.argument(b, begin)).hex()} "
                    f"has {len(window)} cases, but {len(listed)} are listed"
                )
            cases += len(window)
        return f"{self.windows} random windows have exactly the listed cases, {cases} in all"

    def _enumerate(self, b: dict, begin: int, length: int, is_short: bool) -> dict[int, str]:
        """Return all cases of a window, with their kinds."""
        numbers = range(begin, begin + length) if is_short else self._candidates(b, begin, length)
        kinds = {n: self.find_kind(self.argument(b, n), b["ulp"]) for n in numbers}
        return {n: kind for n, kind in kinds.items() if kind is not None and kind in self.kinds}

    def _window_length(self, b: dict) -> int:
        """Return the number of arguments of a window, of which most must be far from breakpoints.

        Lines of sub-domains are of no use where subnormal arguments are too far apart.
        """
        length = 1 << b["domain"]
        while length > 64 and self._line(b, 0, length)[2] > 1 << (WINDOW_BITS - 5):
            length //= 2
        return length

    def _line(self, b: dict, begin: int, length: int) -> tuple[int, int, int]:
        """Return value, slope and error of a line through a window, in half ulps modulo 1."""
        first, last = self.argument(b, begin), self.argument(b, begin + length - 1)
        ctx.prec = 320 + 4 * abs(exponent(first))
        scale = arb(2) ** (1 - b["ulp"])  # in half ulps breakpoints of both kinds are integers
        step = Fraction(b["sign"]) * Fraction(2) ** b["quantum"]
        with _order(3):
            line = self._series(ball(first))
            bend = self._series(ball(first).union(ball(last)))[2]
        sign = -1 if b["negative"] else 1
        start, slope = line[0] * scale * sign, line[1] * ball(step) * scale * sign
        error = abs(bend) * ball(step * (length - 1)) ** 2 * scale + arb(2) ** (1 - self.bits)
        unit = 1 << WINDOW_BITS
        e = int((error * unit).upper().ceil().unique_fmpz()) + 2 * length + 4
        v, a = (int((z * unit).floor().mid().floor().unique_fmpz()) % unit for z in (start, slope))
        return v, a, e

    def _candidates(self, b: dict, begin: int, length: int) -> list[int]:
        """Return all arguments of a window whose values may be cases, from a line."""
        v, a, e = self._line(b, begin, length)
        unit, numbers = 1 << WINDOW_BITS, list[int]()
        x = 0
        while True:
            value = (v + e + a * x) % unit
            jump = 0 if value <= 2 * e else _first_hit(a, unit, unit - value, unit - value + 2 * e)
            if jump is None or x + jump >= length:
                return numbers
            numbers.append(begin + x + jump)
            x += jump + 1


PHASE_BITS = 400
"""Bits after the point of alpha = 2^quantum / pi: phases of 64-digit numbers are then good to
2^-336."""

UNIT = 1 << PHASE_BITS


class PhaseChecker(Statement):
    """Proves a certificate of a periodic search, step by step; each raises Refused.

    Phases x/pi modulo 1 are integers in units of 2^-PHASE_BITS here, rounded down; g is |f| as a
    function of the phase.
    """

    def __init__(self, certificate: dict, lines: list[str], windows: int, seed: int) -> None:
        super().__init__(certificate, lines, windows, seed)
        if self.name not in ("sin", "cos", "tan"):
            raise Refused(f"|{self.name}| does not have the period pi")
        digits, low, high = self.values
        e = certificate["exponent"]
        if type(e) is not int or not 0 <= e <= 1 << 14:
            raise Refused(f"the exponent must be an integer from 0 to 2^14, not {e!r}")
        if low is not None and high is not None and not low <= e <= high:
            raise Refused(f"the format has no binade 2^{e}")
        self.quantum, self.first = e - digits + 1, 1 << (digits - 1)
        ctx.prec = PHASE_BITS + 64 + abs(self.quantum)
        alpha = (arb(2) ** (self.quantum + PHASE_BITS) / arb.pi()).floor().unique_fmpz()
        self.alpha = int(alpha) % UNIT
        self.lo, self.hi = map(parse, certificate["phases"])
        if not 0 <= self.lo < self.hi <= 1:
            raise Refused("phases must lie between 0 and 1")
        self.points = [(parse(lo), parse(hi)) for lo, hi in certificate["points"]]
        columns = certificate["columns"]
        self.rows = [dict(zip(columns, row, strict=True)) for row in certificate["rows"]]
        for row in self.rows:
            row["begin"], w = parse(row["begin"]), parse(row["half_width"])
            row["half_width"], row["length"] = w, 2 * w * (2 * row["windows"] + 1)
            row["end"] = row["begin"] + row["groups"] * row["length"]
            counts = row["groups"], row["windows"], *row["ulps"]
            if (
                any(type(count) is not int for count in counts) or w < Fraction(1, 1 << 200)
                or row["groups"] <= 0 or row["windows"] < 0 or not row["ulps"]
            ):  # fmt: skip
                raise Refused(f"the row at {row['begin']} has no windows")
        self.total = sum((2 * r["windows"] + 1) * r["groups"] * len(r["ulps"]) for r in self.rows)
        if self.total != certificate["windows"]:
            raise Refused(f"the rows have {self.total} windows, not {certificate['windows']}")
        self.certified = [(parse(x), kind) for x, kind in certificate["cases"]]
        self.phases: dict[int, int] = {}
        self.found: dict[int, str] = {}

    def steps(self) -> tuple:
        """Return the proofs, in their order."""
        return self.check_list, self.check_coverage, self.check_slabs, self.check_windows

    # ---- 1. the list ---------------------------------------------------------------------------

    def check_list(self) -> str:
        """Prove that each listed argument is a case of the phases, and of its kind."""
        if sorted(self.list) != sorted(x for x, _ in self.certified):
            raise Refused("the list differs from the cases of the certificate")
        for x, kind in self.certified:
            m = x / Fraction(2) ** self.quantum
            if m.denominator != 1 or not self.first <= m < 2 * self.first:
                raise Refused(f"{x} is no argument of the binade")
            n, phase = int(m), int(m) * self.alpha % UNIT
            if not self._is_between(phase, self.lo, self.hi):
                raise Refused(f"the phase of {x} is not one of the certificate")
            if n in self.found:
                raise Refused(f"{x} is listed twice")
            if kind not in self.kinds or self.kind_of(n) != kind:
                raise Refused(f"{x} is no case of kind {kind}")
            self.require_stated(x, kind)
            self.found[n], self.phases[n] = kind, phase
        expected = self.first * (self.hi - self.lo) * 2 * len(self.kinds) / 2**self.bits
        return f"all {len(self.found)} cases and their kinds (random values: {float(expected):.4g})"

    def _is_between(self, phase: int, lo: Fraction, hi: Fraction) -> bool:
        """Return whether a phase, whose error is below 2^-336, lies in [lo, hi)."""
        error = 1 << 64
        for end in (lo * UNIT, hi * UNIT):
            if end not in (0, UNIT) and abs(phase - end) <= error:
                raise Refused("a phase is too close to an end to be compared")
        return lo * UNIT <= phase < hi * UNIT

    def kind_of(self, m: int) -> str | None:
        """Return F or M if an argument is a case of a kind that is searched, else None."""
        x = Fraction(m) * Fraction(2) ** self.quantum
        y = abs(self.value(x, exponent(x)))
        ulps = {self.ulp(_exponent(z)) for z in (y.lower(), y.upper())}
        ulp = ulps.pop()
        if ulps or ulp is None:
            raise Refused(f"the ulp of {self.name}({x}) cannot be determined")
        kind = self.find_kind(x, ulp)
        return kind if kind is not None and kind in self.kinds else None

    # ---- 2. coverage ---------------------------------------------------------------------------

    def check_coverage(self) -> str:
        """Prove that windows and points leave no gap; decide all arguments of the points."""
        reached = self.lo
        for begin, end in sorted([*self.points, *((r["begin"], r["end"]) for r in self.rows)]):
            if begin > reached:
                break
            reached = max(reached, end)
        if reached < self.hi:
            raise Refused(f"no window covers the phases from {float(reached)} on")
        arguments = 0
        for lo, hi in self.points:
            if not 0 < (hi - lo) * self.first <= 1 << 12:
                raise Refused("an interval of points is empty, or too long to be decided by balls")
            numbers = self.walk(lo, hi)
            self._compare({m: self.kind_of(m) for m, _ in numbers}, lo, hi)
            arguments += len(numbers)
        return (
            f"{self.total} windows cover the phases but {arguments} arguments near zeros and poles,"
            " which were decided one by one"
        )

    def _compare(self, kinds: dict[int, str | None], lo: Fraction, hi: Fraction) -> int:
        """Compare the cases among some arguments with those listed, for phases in [lo, hi)."""
        lo, hi = max(lo, self.lo), min(hi, self.hi)
        window = {m: kind for m, kind in kinds.items() if kind is not None
                  and lo * UNIT <= m * self.alpha % UNIT < hi * UNIT}  # fmt: skip
        ends = lo * UNIT, hi * UNIT
        listed = {m: k for m, k in self.found.items() if ends[0] <= self.phases[m] < ends[1]}
        if window != listed:
            raise Refused(
                f"the phases from {float(lo)} to {float(hi)} have {len(window)} cases, "
                f"but {len(listed)} are listed, or others"
            )
        return len(window)

    def walk(self, lo: Fraction, hi: Fraction) -> list[tuple[int, int]]:
        """Return all numbers m with a phase between lo and hi, and that phase minus lo.

        The steps from one to the next have three lengths: p, the smallest with which the phase
        grows by less than the interval, q, the smallest with which it shrinks by less, and p + q,
        where both would leave the interval.
        """
        m, a, stop = self.first, self.alpha, 2 * self.first
        start, length = int(lo * UNIT), int((hi - lo) * UNIT) + 1
        if 2 * length >= UNIT:
            every = ((m, (m * a - start) % UNIT) for m in range(m, stop))
            return [(m, y) for m, y in every if y < length]
        y = (m * a - start) % UNIT
        if y >= length:
            jump = _first_hit(a, UNIT, UNIT - y, UNIT - y + length - 1)
            if jump is None:
                return []
            m, y = m + jump, (y + jump * a) % UNIT
        p = _first_hit(a, UNIT, 1, length - 1) or stop
        q = _first_hit(a, UNIT, UNIT - length + 1, UNIT - 1) or stop
        up, down = p * a % UNIT, -q * a % UNIT
        numbers = []
        while m < stop:
            numbers.append((m, y))
            grows, shrinks = y + up < length, y >= down
            if grows and (p < q or not shrinks):
                m, y = m + p, y + up
            elif shrinks:
                m, y = m + q, y - down
            else:
                m, y = m + p + q, y + up - down
        return numbers

    # ---- 3. slabs ------------------------------------------------------------------------------

    def coefficients(self, phase: Any, count: int) -> list:
        """Return the Taylor coefficients of f at a phase, in the phase."""
        with _order(count):
            try:
                series = self.f(arb_series([phase * arb.pi(), arb.pi()]))
                return [series[k] for k in range(count)]
            except ValueError:  # a denominator contains 0
                return [arb.nan()] * count

    def check_slabs(self) -> str:
        """Prove that values have the stated ulps, and the slabs of all windows their cases."""
        ctx.prec = 128
        for row in self.rows:
            self._prove_ulps(row, row["begin"], row["end"])
            self._prove_slabs(row, 0, row["groups"] * (2 * row["windows"] + 1))
        return f"the slab of each of {self.total} windows has the tangent of all cases in it"

    def _prove_ulps(self, row: dict, lo: Fraction, hi: Fraction) -> None:
        """Prove that values at all phases between two have ulps of a row."""
        y = abs(self.coefficients(ball(lo).union(ball(hi)), 1)[0])
        if y.is_finite() and y > 0:
            first, last = _exponent(y.lower()), _exponent(y.upper())
            # |sin| and |cos| are below 1 at all arguments, even if balls reach beyond.
            last = last if self.name == "tan" else min(last, -1)
            if {self.ulp(e) for e in range(first, last + 1)} <= {*row["ulps"]}:
                return
        if hi - lo < row["half_width"] / 64:
            raise Refused(f"the ulps near the phase {float(lo)} are wrong")
        self._prove_ulps(row, lo, (lo + hi) / 2)
        self._prove_ulps(row, (lo + hi) / 2, hi)

    def _prove_slabs(self, row: dict, first: int, after: int) -> None:
        """Prove that f at a case and the tangent there differ as a slab permits, in some windows.

        The tangent plus half of the square term differs from f by at most |K| / 2 + |Q| and a
        remainder, where K and Q are the square and the cubic term at the end of a window.
        """
        w = row["half_width"]
        ends = (row["begin"] + (2 * n + 1) * w for n in (first, after - 1))
        centres = ball(next(ends)).union(ball(next(ends)))
        c = self.coefficients(centres, 4)
        remainder = self.coefficients(centres + arb(0, ball(w)), 5)[4]
        size = ball(w)
        deviation = abs(c[2]) * size**2 / 2 + abs(c[3]) * size**3 + abs(remainder) * size**4
        if all(
            (deviation * arb(2) ** -ulp + arb(2) ** -self.bits) * 2**self._doubled < slab
            for ulp, slab in zip(row["ulps"], row["slabs"], strict=True)
        ):
            return
        if after - first == 1:
            raise Refused(f"a slab near the phase {float(centres.mid())} is too low")
        middle = (first + after) // 2
        self._prove_slabs(row, first, middle)
        self._prove_slabs(row, middle, after)

    @property
    def _doubled(self) -> int:
        """1 if slabs are in units of half an ulp, 0 if of an ulp."""
        return int(self.rounding == "all")

    # ---- 4. windows ----------------------------------------------------------------------------

    def check_windows(self) -> str:
        """Walk through all arguments of random windows, and compare with the list."""
        cases = arguments = 0
        chosen = self._choose_windows()
        for lo, hi, ulps in chosen:
            numbers = self.walk(lo, hi)
            near = self._near(numbers, lo, hi, ulps)
            cases += self._compare({m: self.kind_of(m) for m in near}, lo, hi)
            arguments += len(numbers)
        which = f"{len(chosen)} random" if len(chosen) < self.count else f"all {self.count}"
        return f"{which} windows, {arguments} arguments, have exactly the listed cases, {cases}"

    @property
    def count(self) -> int:
        """The number of windows, those for several ulps counted once."""
        return sum((2 * row["windows"] + 1) * row["groups"] for row in self.rows)

    def _choose_windows(self) -> list[tuple[Fraction, Fraction, list[int]]]:
        """Return windows with their ulps: half with a listed case, a quarter any, and of any row.

        If as many are asked for as there are, it returns all.
        """
        sizes = [(2 * row["windows"] + 1) * row["groups"] for row in self.rows]
        ends = list(itertools.accumulate(sizes))
        numbers: Iterable[int] = range(self.count)
        if self.windows < self.count:
            numbers = [self._choose_number(sizes, ends) for _ in range(self.windows)]
        windows = []
        for number in numbers:
            i = bisect.bisect_right(ends, number)
            row = self.rows[i]
            lo = row["begin"] + 2 * (number - ends[i] + sizes[i]) * row["half_width"]
            windows.append((lo, lo + 2 * row["half_width"], row["ulps"]))
        return windows

    def _choose_number(self, sizes: list[int], ends: list[int]) -> int:
        """Return the number of a random window."""
        draw = self.random.random()
        if self.phases and draw < 0.5:
            phase = Fraction(self.random.choice([*self.phases.values()]), UNIT)
            for row, size, end in zip(self.rows, sizes, ends, strict=True):
                if row["begin"] <= phase < row["end"]:
                    return end - size + int((phase - row["begin"]) / (2 * row["half_width"]))
        if draw < 0.75:
            return self.random.randrange(ends[-1])
        i = self.random.randrange(len(ends))
        return ends[i] - sizes[i] + self.random.randrange(sizes[i])

    def _near(self, numbers: list, lo: Fraction, hi: Fraction, ulps: list[int]) -> list[int]:
        """Return the arguments of a window at which a Taylor polynomial is near a breakpoint."""
        ctx.prec = 256
        middle, half = (lo + hi) / 2, (hi - lo) / 2
        whole = ball(lo).union(ball(hi))
        step = int(half * UNIT)
        shift = max(0, step.bit_length() - 128)
        near: list[int] = []
        for ulp in {*ulps}:
            # In units of 2^-128 of half an ulp, for t in units of 2^(shift + 128) phases.
            scale, size = arb(2) ** (129 - ulp), arb(2) ** (shift + 128 - PHASE_BITS)
            c = [x * scale * size**k for k, x in enumerate(self.coefficients(ball(middle), 4))]
            remainder = abs(self.coefficients(whole, 5)[4]) * scale * ball(half) ** 4
            c0, c1, c2, c3 = (int(x.mid().floor().unique_fmpz()) for x in c)
            error = remainder + sum(x.rad() for x in c) + arb(2) ** (129 - self.bits)
            error = int(error.upper().ceil().unique_fmpz())
            # Four roundings of the sum, and four of t, times the slope.
            error += 8 + (4 * (abs(c1) + 2 * abs(c2) + 3 * abs(c3)) >> 128)
            for m, y in numbers:
                t = (y - step) >> shift
                v = c0 + (t * (c1 + (t * (c2 + (t * c3 >> 128)) >> 128)) >> 128)
                if (v + error) % (1 << 128) <= 2 * error:
                    near.append(m)
        return near


class _order:
    """Limits power series to a number of terms."""

    def __init__(self, terms: int) -> None:
        self.terms = terms

    def __enter__(self) -> None:
        self.before, ctx.cap = ctx.cap, self.terms

    def __exit__(self, *_: object) -> None:
        ctx.cap = self.before


def _exponent(y: Any) -> int:
    """Return e with 2^e <= y < 2^(e+1) for the midpoint of a ball."""
    mantissa, power = y.mid().man_exp()
    return int(mantissa).bit_length() + int(power) - 1


def _first_hit(a: int, m: int, low: int, high: int) -> int | None:
    """Return the smallest x >= 0 with low <= a x mod m <= high, where 0 <= low <= high < m."""
    if low == 0:
        return 0
    if a == 0:
        return None
    x = -(-low // a)
    if a * x <= high:
        return x
    # a x - m y lies in [low, high] for the smallest y with m y mod a in [-high, -low] mod a.
    y = _first_hit(m % a, a, -high % a, -low % a)
    return None if y is None else -(-(low + m * y) // a)


CHECKERS: dict[tuple[str, int], type[Checker] | type[PhaseChecker]] = {
    ("tmd-certificate", 1): Checker,
    ("tmd-periodic-certificate", 1): PhaseChecker,
}
"""The checker of each kind and version of certificates."""


def main(argv: list[str] | None = None) -> int:
    """Check a certificate and a list; return 0 if everything is proved, else 1."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("certificate", help="JSON file that `tmd search --certificate` wrote")
    parser.add_argument("cases", help=".wc file that `tmd search --out` wrote")
    parser.add_argument("--windows", type=int, default=100, help="random windows (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="seed of their choice (default: 0)")
    options = parser.parse_args(argv)
    try:
        with open(options.certificate) as file:
            certificate = json.load(file)
        with open(options.cases) as file:
            lines = file.read().splitlines()
        kind = CHECKERS[certificate["kind"], certificate["version"]]
        for step in kind(certificate, lines, options.windows, options.seed).steps():
            print("proved:", step(), flush=True)
    except (
        OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError
    ) as error:  # fmt: skip
        print(f"not a certificate and its list: {error!r}", file=sys.stderr)
        return 2
    except Refused as error:
        print(f"refused: {error}", file=sys.stderr)
        return 1
    print("trusted: Arb, Python, BLAKE2b, this file, and the search between the windows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
