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

    plans = [certificates._plan(result.certificate, b) for b in result.certificate["blocks"]]
    return function("exp"), plans, Device("cpu")


@pytest.mark.parametrize("text", ["[1, 2]", "null", "7"])
def test_other_json_is_no_certificate(text, tmp_path):
    path = tmp_path / "exp.json"
    path.write_text(text)
    with pytest.raises(tmd.CertificateError, match="no JSON object"):
        tmd.verify(path)
    with pytest.raises(tmd.CertificateError, match="no JSON object"):
        certificates.read(path)
