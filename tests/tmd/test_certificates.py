"""Verification accepts correct certificates and refuses changed, incomplete and wrong ones."""

import json
from dataclasses import replace

import numpy as np
import pytest

import tmd
from hetero import Device
from tmd import certificates
from tmd.__main__ import main
from tmd._certificates.blocks import EMPTY_HASH, check_blocks
from tmd._search.cases import hash_json
from tmd._search.planning import Stretch
from tmd.certificates import COLUMNS, load_certificate, make_certificate
from tmd.functions import load_function

DOMAIN = "0x1.62e4p+0", "0x1.62e48p+0"  # e^x crosses 4 there: two blocks


@pytest.fixture(scope="module")
def result():
    return tmd.search("exp", DOMAIN, bits=30)


@pytest.fixture
def certificate(result):
    return json.loads(json.dumps(result.certificate))


def remake(certificate, **changes):
    """Return a certificate with changes and a matching hash, by `make_certificate`."""
    body = certificate | changes
    keys = ("function", "domain", "bits", "precision", "argument_precision", "rounding")
    return make_certificate({k: body[k] for k in keys}, body["trivial"], body["blocks"])


@pytest.mark.parametrize("full", [False, True])
def test_a_correct_certificate_verifies(certificate, full, device):
    report = tmd.verify(certificate, full=full, samples=2, device=device)
    assert report == {
        "blocks": 2,
        "certified_blocks": 2,
        "windows": 4,
        "arguments": 1 << 35,
        "cases": certificate["cases"],
    }


@pytest.mark.parametrize("count", [64, 255, 256, 1000, 8192])
def test_certificates_of_short_domains_verify(count):
    """The sizes of some of them are those of a search by balls."""
    low = 1.5
    domain = low, low + count * 2.0**-52
    report = tmd.verify(tmd.search("exp", domain, bits=20).certificate)
    assert report["arguments"] > 0


def test_a_changed_certificate_is_damaged(certificate, tmp_path):
    certificate["bits"] = 31
    with pytest.raises(tmd.CertificateError, match="hash"):
        load_certificate(certificate)
    path = tmp_path / "torn.json"
    path.write_text(json.dumps(certificate)[:100])
    with pytest.raises(tmd.CertificateError, match="cannot be read"):
        load_certificate(path)
    with pytest.raises(tmd.CertificateError, match="must be a tmd-certificate"):
        load_certificate({"kind": "recipe"})


def rehash(certificate, **changes):
    """Return a certificate with changes of any kind and a matching hash."""
    body = {k: v for k, v in (certificate | changes).items() if k != "hash"}
    return body | {"hash": hash_json(body)}


def with_cells(certificate, block=0, **cells):
    """Return a certificate with other values in a record and a matching hash."""
    records = [list(record) for record in certificate["blocks"]]
    for name, value in cells.items():
        records[block][COLUMNS.index(name)] = value
    return rehash(certificate, blocks=records)


CHANGES = {
    "a wrong total": lambda c: rehash(c, cases=c["cases"] + 1),
    "another definition": lambda c: rehash(c, definition=c["definition"].replace("2^-b", "2^-a")),
    "a version without a number": lambda c: rehash(c, versions=c["versions"] | {"numba": "newest"}),
    "reversed columns": lambda c: rehash(
        c, columns=c["columns"][::-1], blocks=[line[::-1] for line in c["blocks"]]
    ),
    "an extra key": lambda c: rehash(c, proof="see above"),
    "an extra column": lambda c: rehash(
        c, columns=[*c["columns"], "x"], blocks=[[*line, 0] for line in c["blocks"]]
    ),
    "another division in a block": lambda c: with_cells(c, division="integer"),
    "balls that decide each argument": lambda c: with_cells(c, algorithm="balls"),
    "blocks in another order": lambda c: rehash(c, blocks=c["blocks"][::-1]),
    "fewer sub-domains": lambda c: with_cells(c, subdomains=1),
    "more cases than candidates": lambda c: rehash(
        with_cells(c, cases=1 << 40), cases=c["cases"] + (1 << 40) - c["blocks"][0][-3]
    ),
    "a hash of nothing": lambda c: with_cells(c, hash=EMPTY_HASH),
    "other bits": lambda c: rehash(c, bits=59),
    "a domain of too many digits": lambda c: rehash(c, domain=[c["domain"][0], "1e999999999"]),
    "a domain with 0 in it": lambda c: rehash(c, domain=["-0x1.0000000000000p+0", c["domain"][1]]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_certificate_with_a_matching_hash_is_refused_before_a_search(
    certificate, change, monkeypatch
):
    """Its content is checked, record by record."""
    monkeypatch.setattr(certificates, "search_stretches", lambda *_: pytest.fail("it was searched"))
    with pytest.raises(tmd.CertificateError):
        tmd.verify(CHANGES[change](certificate))


JUNK = (None, True, 0, -1, 7.0, "x", [], {}, [[]], 10**30, "0x1.0000000000000p+900", float("nan"))


def same(value, junk):
    """Return whether two values are equal and of one type."""
    return type(value) is type(junk) and value == junk


def test_malformed_certificates_raise_only_certificate_errors(certificate):
    """Every value is replaced by others; ValueError, KeyError or TypeError would fail this test."""
    keys, record = set(certificate) - {"hash"}, certificate["blocks"][0]
    accepted = []
    for junk in JUNK:
        changed = {
            k: rehash(certificate, **{k: junk}) for k in keys if not same(certificate[k], junk)
        }
        for name, value in zip(COLUMNS, record, strict=True):
            if not same(value, junk):
                changed[f"cell {name}"] = with_cells(certificate, **{name: junk})
        for name, other in changed.items():
            try:
                check_blocks(load_certificate(other))
                accepted.append((name, junk))
            except tmd.CertificateError:
                continue
    # These are possible; a new search detects them, as `test_wrong_counts_are_detected` shows.
    assert all(entry in (("cell packet", 0), ("cell balls", 0)) for entry in accepted)


@pytest.mark.parametrize(
    "text",
    [
        *("[" * 100_000, '{"kind": 1, "kind": 2}', "{", "\ud800", '{"kind": NaN}', "1" * 5000),
        *("[1, 2]", "null", "7"),
    ],
)
def test_malformed_files_raise_only_certificate_errors(text, certificate, tmp_path):
    path = tmp_path / "exp.json"
    path.write_text(text, errors="surrogatepass")
    message = "must be a JSON object" if text in ("[1, 2]", "null", "7") else None
    for read in (tmd.verify, certificates.read_certificates):
        with pytest.raises(tmd.CertificateError, match=message):
            read(path)
    for junk in ({1, 2}, object(), {(1, 2): 3}, b"bytes"):
        with pytest.raises(tmd.CertificateError):
            load_certificate(certificate | {"versions": junk})


def test_torn_compressed_files_are_refused(certificate, tmp_path):
    import lzma

    data = lzma.compress((json.dumps(certificate) + "\n").encode())
    path = tmp_path / "exp.jsonl.xz"
    path.write_bytes(data)
    assert certificates.read_certificates(path) == [certificate]
    for damaged in (data[:-20], data[:10], b"", data[:50] + b"xx" + data[52:]):
        path.write_bytes(damaged)
        if damaged:
            with pytest.raises(tmd.CertificateError, match="cannot be read"):
                certificates.read_certificates(path)


def test_the_size_of_a_verification(certificate, tmp_path, capsys):
    """The report says that it is a sample; a verification of nothing is refused."""
    path = tmp_path / "exp.json"
    path.write_text(json.dumps(certificate))
    assert tmd.verify(path, samples=1)["blocks"] == 1
    for samples in (0, -1, 2**63):
        with pytest.raises(ValueError, match="samples must be an integer in"):
            tmd.verify(certificate, samples=samples)
    report = tmd.verify(certificate, samples=0, full=True)
    assert (report["blocks"], report["windows"]) == (2, 0)
    for options, code, text in (
        (("--samples", "1", "--seed", "7"), 0, "1 of 2 blocks (a sample; --full takes all)"),
        (("--full", "--samples", "1"), 0, "2 of 2 blocks, 2 windows"),
        (("--samples", "0"), 2, "--samples must be an integer in"),
    ):
        assert main(["verify", str(path), *options]) == code
        assert text in "".join(capsys.readouterr())


def test_missing_blocks_and_invalid_sizes_are_detected(certificate):
    for blocks, message in (
        (certificate["blocks"][:-1], "do not tile its domain"),
        (with_cells(certificate, piece=3)["blocks"], "sizes that no search uses"),
    ):
        with pytest.raises(tmd.CertificateError, match=message):
            tmd.verify(remake(certificate, blocks=blocks))


@pytest.mark.parametrize("column", ["survivors", "pieces", "candidates", "hash"])
def test_wrong_counts_are_detected(certificate, column):
    value = certificate["blocks"][0][COLUMNS.index(column)]
    other = with_cells(certificate, **{column: value + 1 if isinstance(value, int) else "0" * 24})
    with pytest.raises(tmd.CertificateError, match="but the certificate says"):
        tmd.verify(remake(certificate, blocks=other["blocks"]), full=True)


def test_a_search_that_loses_cases_is_detected(certificate, monkeypatch):
    """Windows are checked argument by argument, so a wrong search does not confirm itself."""
    search_stretches = certificates.search_stretches

    def lossy(f, stretches, device, *progress):
        for stretch in stretches:
            (cases,) = search_stretches(f, [stretch], device, *progress)
            if stretch.plan.algorithm != "exhaustive":
                none = np.zeros(cases.index.size, bool)
                arrays = {k: getattr(cases, k)[none] for k in ("index", "middle", "value", "error")}
                cases = replace(cases, **arrays)
            yield cases

    result = tmd.search("exp", ("1.5", "0x1.8000004p+0"), bits=20)
    monkeypatch.setattr(certificates, "search_stretches", lossy)
    plans = check_blocks(result.certificate).plans
    (cases,) = lossy(load_function("exp"), map(Stretch.whole, plans), Device("cpu"))
    records = [certificates.block_record(*plans, cases)]
    with pytest.raises(tmd.CertificateError, match="window"):
        tmd.verify(remake(result.certificate, blocks=records))
