"""Interrupted searches go on where they were; damaged files are refused and kept."""

import itertools
import json

import pytest

import tmd
from tmd import checkpoint, searches

ASK = {"name": "exp", "domain": ("0x1.62e4p+0", "0x1.62e48p+0"), "bits": 30}


@pytest.fixture(scope="module")
def whole():
    return tmd.search(**ASK)


def interrupted(path, monkeypatch, after=1):
    """A search that ends after some blocks, as by a signal."""
    results = searches._results

    def stop(*arguments):
        yield from itertools.islice(results(*arguments), after)
        raise KeyboardInterrupt

    with monkeypatch.context() as m:
        m.setattr(searches, "_results", stop)
        with pytest.raises(KeyboardInterrupt):
            tmd.search(**ASK, checkpoint=path)


def same(a, b):
    return a.certificate == b.certificate and list(a.cases) == list(b.cases)


def test_an_interrupted_search_goes_on_without_loss(tmp_path, monkeypatch, whole):
    path = tmp_path / "exp.checkpoint"
    interrupted(path, monkeypatch)
    kept = path.read_text()
    assert kept.count("\n") == 2
    scanned = []
    monkeypatch.setattr(
        searches,
        "scan",
        lambda f, plans, d, old=searches.scan: scanned.append(len(plans)) or old(f, plans, d),
    )
    assert same(tmd.search(**ASK, checkpoint=path), whole)
    assert scanned == [1]  # the other block was not done again
    assert path.read_text().startswith(kept)
    assert same(tmd.search(**ASK, checkpoint=path), whole)


def test_a_torn_last_line_is_done_again(tmp_path, whole):
    path = tmp_path / "exp.checkpoint"
    tmd.search(**ASK, checkpoint=path)
    text = path.read_text()
    for cut in (3, len(text.splitlines()[-1]) // 2):
        path.write_text(text[:-cut])
        assert same(tmd.search(**ASK, checkpoint=path), whole)
        assert path.read_text() == text


def test_a_torn_head_is_written_again(tmp_path, whole):
    path = tmp_path / "exp.checkpoint"
    tmd.search(**ASK, checkpoint=path)
    path.write_text(path.read_text()[:20])
    assert same(tmd.search(**ASK, checkpoint=path), whole)


def test_damage_is_refused_and_the_file_kept(tmp_path):
    path = tmp_path / "exp.checkpoint"
    tmd.search(**ASK, checkpoint=path)
    text = path.read_text()
    half = len(text) // 2
    damaged = text[:half] + ("x" if text[half] != "x" else "y") + text[half + 1 :]
    path.write_text(damaged)
    with pytest.raises(tmd.CheckpointError, match="damaged in line"):
        tmd.search(**ASK, checkpoint=path)
    assert path.read_text() == damaged


def test_the_checkpoint_of_another_search_is_refused(tmp_path):
    path = tmp_path / "exp.checkpoint"
    tmd.search(**ASK, checkpoint=path)
    with pytest.raises(tmd.CheckpointError, match="bits=30"):
        tmd.search(**(ASK | {"bits": 31}), checkpoint=path)
    path.write_text("a shopping list\n")
    with pytest.raises(tmd.CheckpointError):
        tmd.search(**ASK, checkpoint=path)
    assert path.read_text() == "a shopping list\n"


@pytest.mark.parametrize("other", [{"algorithm": "regular"}, {"division": "integer"}])
def test_blocks_that_were_searched_otherwise_are_refused(tmp_path, other):
    """Their counts would go into a certificate that says they were searched this way."""
    path = tmp_path / "exp.checkpoint"
    tmd.search(**ASK, checkpoint=path)
    with pytest.raises(tmd.CheckpointError, match=next(iter(other.values()))):
        tmd.search(**ASK, **other, checkpoint=path)


def test_other_sizes_of_another_version_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "exp.checkpoint"
    tmd.search(**ASK, checkpoint=path)
    monkeypatch.setattr("tmd.plan.SPLITS", (4,))
    with pytest.raises(tmd.CheckpointError, match="plans="):
        tmd.search(**ASK, checkpoint=path)


def rewritten(path, change):
    """Change the record in the last line, and give it a checksum that fits."""
    *lines, last = path.read_text().splitlines()
    record = json.loads(last.partition(" ")[2])
    changed = change(record)
    records = changed if isinstance(changed, list) else [changed]
    lines = [line + "\n" for line in lines] + [checkpoint._line(r) for r in records]
    path.write_text("".join(lines))


EMPTY = {name: checkpoint._packed([], dtype) for name, dtype in checkpoint._ARRAYS}
DAMAGED = {
    "all case arrays emptied": lambda r: r | EMPTY,
    "one case array emptied": lambda r: r | {"index": EMPTY["index"]},
    "cases emptied and their hash with them": lambda r: r | EMPTY | {"hash": "0" * 24},
    "an unknown block": lambda r: r | {"block": 2},
    "a negative block": lambda r: r | {"block": -1},
    "a block that is no number": lambda r: r | {"block": "1"},
    "a block in two lines": lambda r: [r, r],
    "no block": lambda r: {k: v for k, v in r.items() if k != "block"},
    "no counts": lambda r: r | {"counts": None},
    "too few counts": lambda r: r | {"counts": r["counts"][1:]},
    "counts of another search": lambda r: r | {"counts": [1, *r["counts"][1:]]},
    "more cases than candidates": lambda r: r | {"counts": [*r["counts"][:3], 1, 0]},
    "undecided arguments that nobody counted": lambda r: r | {"undecided": [5]},
    "undecided arguments that are none": lambda r: r | {"undecided": 5},
    "an array that is no text": lambda r: r | {"index": 5},
    "an array that is no base85": lambda r: r | {"index": "~~~\x00"},
    "an array that is not compressed": lambda r: r | {"index": "00000"},
    "an array of half numbers": lambda r: r | {"index": checkpoint._packed([1], "<u4")},
    "errors below 0": lambda r: r | {"error": r["value"]},
    "values that are no cases": lambda r: r | {"value": _far(r)},
    "a list": lambda r: [[r]],
    "a number": lambda r: [7],
}


def _far(record):
    """As many values as there are, each at a quarter of a unit."""
    value = checkpoint._array(record["value"], "<i8")
    return checkpoint._packed(value * 0 + (1 << 61), "<i8")


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_line_with_a_right_checksum_is_looked_at(tmp_path, monkeypatch, damage):
    path = tmp_path / "exp.checkpoint"
    tmd.search(**ASK, checkpoint=path)
    rewritten(path, DAMAGED[damage])
    text = path.read_text()
    monkeypatch.setattr(searches, "scan", lambda *_: pytest.fail("it was searched"))
    with pytest.raises(tmd.CheckpointError, match=r"is damaged in line [34]: .*Remove that line"):
        tmd.search(**ASK, checkpoint=path)
    assert path.read_text() == text


@pytest.mark.parametrize(
    "head", [[], 7, {"format": "tmd-checkpoint 1", "search": {}}, {"format": "tmd-checkpoint 2"}]
)
def test_a_head_with_a_right_checksum_is_looked_at(tmp_path, head):
    path = tmp_path / "exp.checkpoint"
    path.write_text(checkpoint._line(head))
    with pytest.raises(tmd.CheckpointError):
        tmd.search(**ASK, checkpoint=path)
