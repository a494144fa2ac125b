"""What searches and checks refuse: errors name the argument, its value and a remedy; limits."""

import ctypes
import lzma
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import tmd
from tmd._certificates import reading
from tmd.errors import CertificateError

SEARCHES = {
    "function must be one of 'exp'": ("gamma", (1, 2), {}),
    "lo < hi": ("exp", (1, 1), {}),
    "domain must be a number, got 'one'": ("exp", ("one", 2), {}),
    "finite": ("exp", (math.nan, 2), {}),
    "must not contain or end at 0": ("exp", (0, 1), {"precision": 30}),
    "too many to store: use bits >= ": ("exp", (-1, 1), {}),
    "trivial near 0, where it is closer than": ("exp", ("2**-120", "2**-90"), {}),
    "no argument": ("exp", ("1/3", "0x1.5555555555556p-2"), {"precision": 10}),
    "contains no argument": ("log", ("2**128", "2**129"), {"bits": 20, "precision": 24}),
    "no value at 0 and below": ("log", (-2, -1), {}),
    "too many to store: use bits >= 28": ("exp", (1, 2), {"bits": 20}),
    r"bits must be an integer in \[4, 58\], got 60": ("exp", (1, 2), {"bits": 60}),
    r"precision must be an integer in \[2, 64\]": ("exp", (1, 2), {"precision": 65}),
    "precision must be one of 'bfloat16'": ("exp", (1, 2), {"precision": "binary8"}),
    "emin <= emax": ("exp", (1, 2), {"precision": (8, 5, 1)}),
    r"must be \(digits, emin, emax\)": ("exp", (1, 2), {"precision": (8, 5)}),
    "rounding must be one of": ("exp", (1, 2), {"rounding": "up"}),
    "algorithm must be one of": ("exp", (1, 2), {"algorithm": "slz"}),
    "division must be one of": ("exp", (1, 2), {"division": "slow"}),
    "device must be": ("exp", (1, 1.1), {"device": "tpu"}),
    "asin needs -1 <= x <= 1": ("asin", (2, 3), {}),
    "needs x >= 1": ("acosh", (0, 1), {}),
    "sin has about .* zeros and poles": ("sin", ("0x1p300", "0x1.0000001p300"), {}),
    "take domains with at most 4096": ("sinpi", (1, "2**30"), {}),
}
"""Words of errors, and the function, the domain and the options of a search."""


@pytest.mark.parametrize("words", SEARCHES)
def test_searches(words):
    name, domain, options = SEARCHES[words]
    with pytest.raises(ValueError, match=words):
        tmd.search(name, domain, **options)


@pytest.mark.parametrize(
    ("domain", "bits", "words"),
    [(1, None, "domain must be a pair"),
     ((1, True), None, "domain must be a real number, got True"),
     ((1, 2), 40.5, "bits must be an integer")],
)  # fmt: skip
def test_types_of_searches(domain, bits, words):
    with pytest.raises(TypeError, match=words):
        tmd.search("exp", domain, **{"bits": bits} if bits else {})


@pytest.mark.parametrize(
    "end",
    ["1e999999999", "0x1p-99999999999", "2**999999999", "1e400000**1000", "1" * 5000,
     Decimal("1e999999999"), Fraction(1, 3**10_000), 10**5000],
    ids=["1e9 digits", "tiny", "power", "power of a power", "5000 digits", "Decimal", "Fraction",
         "integer"],
)  # fmt: skip
def test_ends_of_too_many_digits(end):
    with pytest.raises(ValueError, match="domain must be a number"):
        tmd.search("exp", (1, end))


@pytest.mark.parametrize(
    ("name", "x", "source", "words"),
    [("log", 0.0, math.log, "arguments: log has no value at"),
     ("exp", math.nan, math.exp, "arguments must be finite"),
     ("exp", 0.0, 5, "must hold paths, ufuncs, ctypes functions and callables, got 5"),
     ("exp", 0.0, lambda x: "text", "must return a number, got 'text'"),
     ("exp", 0.0, np.add, "must have one input and one output, it has 2 and 1"),
     ("exp", 0.0, ctypes.CFUNCTYPE(ctypes.c_int)(int), "set its restype"),
     ("exp", 0.0, "/no/such/library.so", "cannot be loaded")],
)  # fmt: skip
def test_checks_of_libraries(name, x, source, words):
    with pytest.raises((TypeError, ValueError), match=words):
        tmd.check_libraries(name, [x], [source])


def test_a_missing_gpu_is_an_error_and_no_fallback():
    import hetero

    if len(hetero.available()) > 1:
        pytest.skip("there is a GPU")
    with pytest.raises(hetero.DeviceUnavailableError, match="Remedy"):
        tmd.search("exp", (1, 1.001), device="cuda")


def test_values_that_overflow_everywhere_need_no_search():
    result = tmd.search("exp", (2**62, 2**63), device="cpu")
    assert result.certificate["trivial"] == 2**52
    assert not result.cases
    with pytest.raises(ValueError, match=r"domain: exp has values of .* exponents"):
        tmd.search("exp", (2**62, 2**63), precision=30, argument_precision=30)


def test_a_small_file_that_decompresses_to_a_large_one(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MAX_BYTES", 1 << 20)
    path = tmp_path / "bomb.jsonl.xz"
    path.write_bytes(lzma.compress(b" " * (1 << 24)))
    assert path.stat().st_size < 10_000
    with pytest.raises(CertificateError, match="more than 1 MiB"):
        tmd.read_certificates(path)
