"""Questions that no machine can answer are refused at once, by the name of the argument."""

import lzma
from decimal import Decimal
from fractions import Fraction

import pytest

import tmd
from tmd._certificates import reading
from tmd.errors import CertificateError


@pytest.mark.parametrize(
    "end",
    ["1e999999999", "1e-999999999", "2**999999999", "1e400000**1000", "1" * 5000,
     Decimal("1e999999999"), Fraction(1, 3**10_000), 10**5000],
    ids=["1e9 digits", "tiny", "power", "power of a power", "5000 digits", "Decimal", "Fraction",
         "integer"],
)  # fmt: skip
def test_ends_of_too_many_digits(end):
    with pytest.raises(ValueError, match="domain must be a number"):
        tmd.search("exp", (1, end))


def test_values_that_overflow_everywhere_need_no_search():
    result = tmd.search("exp", (2**62, 2**63), device="cpu")
    assert result.certificate["trivial"] == 2**52
    assert not result.cases
    with pytest.raises(ValueError, match=r"domain: exp has values of .* exponents"):
        tmd.search("exp", (2**62, 2**63), precision=30, argument_precision=30)


def test_libraries_at_values_beyond_binary64():
    for score in tmd.check_libraries("exp", [1e9, -1e9, 709.0, -745.2]):
        assert score.wrong == []


def test_a_small_file_that_decompresses_to_a_large_one(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MAX_BYTES", 1 << 20)
    path = tmp_path / "bomb.jsonl.xz"
    path.write_bytes(lzma.compress(b" " * (1 << 24)))
    assert path.stat().st_size < 10_000
    with pytest.raises(CertificateError, match="more than 1 MiB"):
        tmd.read_certificates(path)
