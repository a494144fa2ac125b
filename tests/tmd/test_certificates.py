"""A certificate tells a good search from a changed, an incomplete and a wrong one."""

import json
from dataclasses import replace

import numpy as np
import pytest

import tmd
from tmd import certificate as certificates
from tmd.certificate import COLUMNS, load, make

DOMAIN = "0x1.62e4p+0", "0x1.62e48p+0"  # e^x crosses 4 there: two blocks


@pytest.fixture(scope="module")
def result():
    return tmd.search("exp", DOMAIN, bits=30)


@pytest.fixture
def certificate(result):
    return json.loads(json.dumps(result.certificate))


def remade(certificate, **changes):
    """A certificate with changes and a hash that fits them."""
    body = certificate | changes
    keep = ("function", "domain", "bits", "precision", "argument_precision", "rounding")
    return make({k: body[k] for k in keep}, body["trivial"], body["blocks"])


def test_it_says_what_was_searched(certificate, result):
    assert certificate["function"] == "exp"
    assert certificate["domain"] == ["0x1.62e4000000000p+0", "0x1.62e4800000000p+0"]
    assert "closer than 2^-bits" in certificate["definition"]
    assert certificate["cases"] == len(result.cases)
    assert sum(b[COLUMNS.index("count")] for b in certificate["blocks"]) == 1 << 35
    assert certificate["versions"]["numba"]


@pytest.mark.parametrize("full", [False, True])
def test_a_good_one_verifies(certificate, full, device):
    report = tmd.verify(certificate, full=full, samples=2, device=device)
    assert report == {
        "blocks": 2,
        "certified_blocks": 2,
        "windows": 4,
        "arguments": 1 << 35,
        "cases": certificate["cases"],
    }


def test_a_file_verifies(certificate, tmp_path):
    path = tmp_path / "exp.json"
    path.write_text(json.dumps(certificate))
    assert tmd.verify(path, samples=1)["blocks"] == 1


def test_a_changed_one_is_damaged(certificate, tmp_path):
    certificate["bits"] = 31
    with pytest.raises(tmd.CertificateError, match="hash"):
        load(certificate)
    path = tmp_path / "torn.json"
    path.write_text(json.dumps(certificate)[:100])
    with pytest.raises(tmd.CertificateError, match="cannot be read"):
        load(path)
    with pytest.raises(tmd.CertificateError, match="no tmd-certificate"):
        load({"kind": "recipe"})


def resealed(certificate, **changes):
    """A certificate with changes of any kind, whose hash fits them."""
    body = {k: v for k, v in (certificate | changes).items() if k != "hash"}
    return body | {"hash": certificates._hash(body)}


def with_cells(certificate, block=0, **cells):
    """A certificate with other values in a line, resealed."""
    lines = [list(line) for line in certificate["blocks"]]
    for name, value in cells.items():
        lines[block][COLUMNS.index(name)] = value
    return resealed(certificate, blocks=lines)


RESEALED = {
    "a wrong total": lambda c: resealed(c, cases=c["cases"] + 1),
    "no total": lambda c: resealed(c, cases=None),
    "another number of trivial arguments": lambda c: resealed(c, trivial=1),
    "another definition": lambda c: resealed(c, definition=c["definition"].replace("2^-b", "2^-a")),
    "no versions": lambda c: resealed(c, versions={}),
    "versions in a list": lambda c: resealed(c, versions=list(c["versions"])),
    "a version that is none": lambda c: resealed(c, versions=c["versions"] | {"numba": "newest"}),
    "a version that is a number": lambda c: resealed(c, versions=c["versions"] | {"numba": 0.68}),
    "reversed columns": lambda c: resealed(
        c, columns=c["columns"][::-1], blocks=[line[::-1] for line in c["blocks"]]
    ),
    "an extra key": lambda c: resealed(c, proof="see above"),
    "an extra column": lambda c: resealed(
        c, columns=[*c["columns"], "x"], blocks=[[*line, 0] for line in c["blocks"]]
    ),
    "a missing key": lambda c: resealed({k: v for k, v in c.items() if k != "versions"}),
    "another division in a block": lambda c: with_cells(c, division="integer"),
    "no division": lambda c: with_cells(c, division="magic"),
    "another algorithm in a block": lambda c: with_cells(c, algorithm="lefevre"),
    "no algorithm": lambda c: with_cells(c, algorithm="auto"),
    "balls that look at each argument": lambda c: with_cells(c, algorithm="balls"),
    "blocks in another order": lambda c: resealed(c, blocks=c["blocks"][::-1]),
    "fewer sub-domains": lambda c: with_cells(c, subdomains=1),
    "more survivors than sub-domains": lambda c: with_cells(c, survivors=1 << 60),
    "more cases than candidates": lambda c: resealed(
        with_cells(c, cases=1 << 40), cases=c["cases"] + (1 << 40) - c["blocks"][0][-3]
    ),
    "a hash of nothing": lambda c: with_cells(c, hash=certificates._NOTHING),
    "a hash that is none": lambda c: with_cells(c, hash="see above"),
    "other bits": lambda c: resealed(c, bits=59),
    "bits that are a number with a point": lambda c: resealed(c, bits=30.0),
    "another spelling of the domain": lambda c: resealed(c, domain=["1.3858", c["domain"][1]]),
    "a domain with a hole": lambda c: resealed(c, domain=["-0x1.0000000000000p+0", c["domain"][1]]),
    "another function": lambda c: resealed(c, function="sinh"),
    "another version": lambda c: resealed(c, version=2),
    "a version that is true": lambda c: resealed(c, version=True),
}


@pytest.mark.parametrize("change", RESEALED)
def test_a_resealed_one_is_refused_before_a_search(certificate, change, monkeypatch):
    """Its hash fits: what it says is looked at, line by line."""
    monkeypatch.setattr(certificates, "scan", lambda *_: pytest.fail("it was searched"))
    with pytest.raises(tmd.CertificateError):
        tmd.verify(RESEALED[change](certificate))


JUNK = (None, True, 0, -1, 7.0, "x", [], {}, [[]], 10**30, "0x1.0000000000000p+900", float("nan"))


def same(value, junk):
    return type(value) is type(junk) and value == junk


def test_malformed_ones_raise_certificate_errors_alone(certificate):
    """Every value is replaced by others; ValueError, KeyError and TypeError would end this test."""
    keys, line = set(certificate) - {"hash"}, certificate["blocks"][0]
    unseen = []
    for junk in JUNK:
        changed = {
            k: resealed(certificate, **{k: junk}) for k in keys if not same(certificate[k], junk)
        }
        for name, value in zip(COLUMNS, line, strict=True):
            if not same(value, junk):
                changed[f"cell {name}"] = with_cells(certificate, **{name: junk})
        for name, other in changed.items():
            try:
                certificates.check_blocks(load(other))
                unseen.append((name, junk))
            except tmd.CertificateError:
                continue
    # These may be so: a new search tells, as `test_other_counts_are_seen` shows.
    assert all(entry in (("cell packet", 0), ("cell balls", 0)) for entry in unseen)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"kind": 1, "kind": 2}', "{", "\ud800", '{"kind": NaN}', "1" * 5000]
)
def test_malformed_files_raise_certificate_errors_alone(text, tmp_path):
    path = tmp_path / "exp.json"
    path.write_text(text, errors="surrogatepass")
    for reading in (load, certificates.read):
        with pytest.raises(tmd.CertificateError):
            reading(path)


def test_what_json_cannot_hold_is_no_certificate(certificate):
    for junk in ({1, 2}, object(), {(1, 2): 3}, b"bytes"):
        with pytest.raises(tmd.CertificateError):
            load(certificate | {"versions": junk})


def test_torn_compressed_files_are_refused(certificate, tmp_path):
    import lzma

    data = lzma.compress((json.dumps(certificate) + "\n").encode())
    path = tmp_path / "exp.jsonl.xz"
    path.write_bytes(data)
    assert certificates.read(path) == [certificate]
    for damaged in (data[:-20], data[:10], b"", data[:50] + b"xx" + data[52:]):
        path.write_bytes(damaged)
        if damaged:
            with pytest.raises(tmd.CertificateError, match="cannot be read"):
                certificates.read(path)


@pytest.mark.parametrize("samples", [0, -1])
def test_a_check_of_nothing_is_refused(certificate, samples):
    with pytest.raises(ValueError, match="samples must be an integer >= 1"):
        tmd.verify(certificate, samples=samples)
    report = tmd.verify(certificate, samples=0, full=True)
    assert (report["blocks"], report["windows"]) == (2, 0)


def test_a_sample_is_said_to_be_one(certificate, tmp_path, capsys):
    from tmd.__main__ import main

    path = tmp_path / "exp.json"
    path.write_text(json.dumps(certificate))
    assert main(["verify", str(path), "--samples", "1"]) == 0
    assert "1 of 2 blocks (a sample; --full takes all)" in capsys.readouterr().out
    assert main(["verify", str(path), "--full", "--samples", "1"]) == 0
    assert "2 of 2 blocks, 2 windows" in capsys.readouterr().out
    assert main(["verify", str(path), "--samples", "0"]) == 2
    assert "--samples must be an integer >= 1" in capsys.readouterr().err


def test_a_missing_block_is_seen(certificate):
    with pytest.raises(tmd.CertificateError, match="not those of its domain"):
        tmd.verify(remade(certificate, blocks=certificate["blocks"][:-1]))


def test_sizes_that_kernels_cannot_take_are_refused(certificate):
    blocks = [list(b) for b in certificate["blocks"]]
    blocks[0][COLUMNS.index("piece")] = 3
    with pytest.raises(tmd.CertificateError, match="no sizes"):
        tmd.verify(remade(certificate, blocks=blocks))


@pytest.mark.parametrize("column", ["survivors", "pieces", "candidates", "hash"])
def test_other_counts_are_seen(certificate, column):
    blocks = [list(b) for b in certificate["blocks"]]
    value = blocks[0][COLUMNS.index(column)]
    blocks[0][COLUMNS.index(column)] = value + 1 if isinstance(value, int) else "0" * 24
    with pytest.raises(tmd.CertificateError, match="certified is"):
        tmd.verify(remade(certificate, blocks=blocks), full=True)


def test_a_search_that_loses_cases_is_seen(certificate, monkeypatch):
    """Windows are looked at argument by argument: a wrong search does not certify itself."""
    honest = certificates.scan

    def lossy(f, plans, device):
        for plan, found in honest(f, plans, device):
            if plan.algorithm != "exhaustive":
                keep = np.zeros(found.index.size, bool)
                arrays = {k: getattr(found, k)[keep] for k in ("index", "middle", "value", "error")}
                found = replace(found, **arrays)
            yield plan, found

    result = tmd.search("exp", ("1.5", "0x1.8000004p+0"), bits=20)
    rows = [list(r) for r in result.certificate["blocks"]]
    monkeypatch.setattr(certificates, "scan", lossy)
    (pair,) = lossy(*_asked(result))
    rows = [certificates.row(*pair)]
    with pytest.raises(tmd.CertificateError, match="window"):
        tmd.verify(remade(result.certificate, blocks=rows))


def _asked(result):
    from hetero import Device
    from tmd.functions import function

    plans = certificates.check_blocks(result.certificate).plans
    return function("exp"), plans, Device("cpu")


@pytest.mark.parametrize("text", ["[1, 2]", "null", "7"])
def test_other_json_is_no_certificate(text, tmp_path):
    path = tmp_path / "exp.json"
    path.write_text(text)
    with pytest.raises(tmd.CertificateError, match="no JSON object"):
        tmd.verify(path)
    with pytest.raises(tmd.CertificateError, match="no JSON object"):
        certificates.read(path)
