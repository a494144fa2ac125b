"""Interrupted searches go on where they were; damaged files are refused and kept."""

import itertools

import pytest

import tmd
from tmd import searches

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
