"""Interrupted searches continue from their checkpoint; damaged files are refused unchanged."""

import itertools
import json

import pytest

import tmd
from hetero.data_files.atomic_files import lock_name
from tmd import searches
from tmd._search import checkpoint as search_checkpoint

SEARCH = {"name": "exp", "domain": ("0x1.62e4p+0", "0x1.62e48p+0"), "bits": 30}


@pytest.fixture(scope="module")
def complete():
    """The result of an uninterrupted search."""
    return tmd.search(**SEARCH)


@pytest.fixture
def path(tmp_path):
    """The checkpoint of a search that has ended."""
    file = tmp_path / "exp.checkpoint"
    tmd.search(**SEARCH, checkpoint=file)
    return file


def interrupt_search(path, monkeypatch, after=1):
    """Run a search that is interrupted after some blocks, as by a signal."""
    search_in_groups = searches.search_in_groups

    def stop(*arguments):
        yield from itertools.islice(search_in_groups(*arguments), after)
        raise KeyboardInterrupt

    with monkeypatch.context() as m:
        m.setattr(searches, "search_in_groups", stop)
        with pytest.raises(KeyboardInterrupt):
            tmd.search(**SEARCH, checkpoint=path)


def same(a, b):
    """Return whether two results have the same certificate and cases."""
    return a.certificate == b.certificate and list(a.cases) == list(b.cases)


def test_an_interrupted_search_continues_without_loss(tmp_path, monkeypatch, complete):
    path = tmp_path / "exp.checkpoint"
    interrupt_search(path, monkeypatch)
    before = path.read_text()
    assert before.count("\n") == 2
    scanned, search_in_groups = [], searches.search_in_groups

    def count_plans(f, plans, *others):
        scanned.append(len(plans))
        return search_in_groups(f, plans, *others)

    monkeypatch.setattr(searches, "search_in_groups", count_plans)
    assert same(tmd.search(**SEARCH, checkpoint=path), complete)
    assert scanned == [1]  # the other block was not searched again
    assert path.read_text().startswith(before)
    assert same(tmd.search(**SEARCH, checkpoint=path), complete)


def test_torn_lines_are_written_again(path, complete):
    """The last one, with its block, or the head."""
    text = path.read_text()
    for kept in (text[:-3], text[: -len(text.splitlines()[-1]) // 2], text[:20]):
        path.write_text(kept)
        assert same(tmd.search(**SEARCH, checkpoint=path), complete)
        assert path.read_text() == text


def refuses(path, match, **changes):
    """Check that a search refuses a checkpoint, and leaves it as it is."""
    text = path.read_text()
    with pytest.raises(tmd.CheckpointError, match=match):
        tmd.search(**(SEARCH | changes), checkpoint=path)
    assert path.read_text() == text


def test_damaged_files_and_those_of_other_searches_are_refused_unchanged(path, monkeypatch):
    """Counts of another algorithm would contradict the one that the certificate names."""
    refuses(path, "bits=30", bits=31)
    refuses(path, "regular", algorithm="regular")
    refuses(path, "integer", division="integer")
    with monkeypatch.context() as m:
        m.setattr("tmd._search.planning.SPLITS", (4,))
        refuses(path, "plans=")
    text = path.read_text()
    half = len(text) // 2
    path.write_text(text[:half] + ("x" if text[half] != "x" else "y") + text[half + 1 :])
    refuses(path, "damaged in line")
    head = {"format": "tmd-checkpoint 1", "search": {}}
    for junk in ([], 7, head, {"format": "tmd-checkpoint 2"}):
        path.write_text(search_checkpoint._format_line(junk))
        refuses(path, None)
    path.write_text("a shopping list\n")
    refuses(path, None)


def rewrite_last_line(path, change):
    """Change the record in the last line, and give it a matching checksum."""
    *lines, last = path.read_text().splitlines()
    record = json.loads(last.partition(" ")[2])
    changed = change(record)
    records = changed if isinstance(changed, list) else [changed]
    lines = [line + "\n" for line in lines] + [search_checkpoint._format_line(r) for r in records]
    path.write_text("".join(lines))


EMPTY = {
    name: search_checkpoint._encode_array([], dtype) for name, dtype in search_checkpoint._ARRAYS
}
HALF = search_checkpoint._encode_array([1], "<u4")
DAMAGED = {
    "all case arrays emptied": lambda r: r | EMPTY,
    "cases emptied and their hash with them": lambda r: r | EMPTY | {"hash": "0" * 24},
    "an unknown block": lambda r: r | {"block": 2},
    "a block in two lines": lambda r: [r, r],
    "no block": lambda r: {k: v for k, v in r.items() if k != "block"},
    "too few counts": lambda r: r | {"counts": r["counts"][1:]},
    "counts of another search": lambda r: r | {"counts": [1, *r["counts"][1:]]},
    "more cases than candidates": lambda r: r | {"counts": [*r["counts"][:3], 1, 0]},
    "undecided arguments that are not counted": lambda r: r | {"undecided": [5]},
    "an array that is not base85": lambda r: r | {"index": "~~~\x00"},
    "an array of half numbers": lambda r: r | {"index": HALF},
    "errors below 0": lambda r: r | {"error": r["value"]},
    "values too far from breakpoints": lambda r: r | {"value": _far_values(r)},
    "a list": lambda r: [[r]],
}


def _far_values(record):
    """Return as many values as the record has, each at a quarter of a unit."""
    value = search_checkpoint._decode_array(record["value"], "<i8")
    return search_checkpoint._encode_array(value * 0 + (1 << 61), "<i8")


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_line_with_a_correct_checksum_is_validated(path, monkeypatch, damage):
    rewrite_last_line(path, DAMAGED[damage])
    monkeypatch.setattr(searches, "search_in_groups", lambda *_: pytest.fail("it was searched"))
    refuses(path, r"is damaged in line [34]: .*Remove that line")


def test_a_checkpoint_that_another_search_writes_is_refused(path, complete):
    """Both would add the same blocks, and the next search would take that for damage."""
    with lock_name(path, wait=False, keep_file=True) as is_ours:
        assert is_ours
        refuses(path, "another process runs now")
    assert same(tmd.search(**SEARCH, checkpoint=path), complete)
