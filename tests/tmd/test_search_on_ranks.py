"""Searches on ranks: what a killed job has searched is not searched again."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hetero
import tmd
from lbm.launcher import find_launcher

SUPPORT = Path(__file__).parents[1] / "support"

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL"),
]


def run_ranks(ranks, checkpoint, out, blocks):
    """Search on ranks, which must all end."""
    program = [sys.executable, str(SUPPORT / "search_worker.py"), str(checkpoint), str(out)]
    environment = os.environ | {"PYTHONPATH": str(Path(hetero.__file__).parents[1])}
    return subprocess.run(
        [find_launcher(), "-n", str(ranks), *program, str(blocks)],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def searched(out, ranks):
    """Return the blocks that ranks have begun to search, one list for each rank."""
    paths = [Path(f"{out}.{rank}") for rank in range(ranks)]
    return [path.read_text().split() if path.exists() else [] for path in paths]


def stored(checkpoint):
    """Return the numbers of blocks in the file of a search and in those of its ranks."""
    paths = [checkpoint, *checkpoint.parent.glob(f"{checkpoint.name}.rank*")]
    return {path.name: path.read_text().count("\n") - 1 for path in paths}


@pytest.fixture(scope="module")
def expected():
    """The same search in one process; the ranks then have its compiled code from disk."""
    return tmd.search("exp", ("2**-10", "1"), bits=20, precision=26, device="cpu")


def test_a_killed_job_resumes(tmp_path, expected):
    checkpoint, out = tmp_path / "blocks.txt", tmp_path / "out"
    assert run_ranks(3, checkpoint, out, 2).returncode != 0
    assert not out.exists()
    first = searched(out, 3)
    kept = stored(checkpoint)
    # Each block that a rank had finished is stored, but for one that it may have been storing.
    for rank, begun in enumerate(first):
        name = checkpoint.name if rank == 0 else f"{checkpoint.name}.rank{rank}"
        assert len(begun) - 1 <= kept[name] <= len(begun)
    assert sum(kept.values()) >= 2

    again = tmp_path / "again"
    run = run_ranks(2, checkpoint, again, -1)
    assert run.returncode == 0, run.stderr
    assert again.read_text() == expected.certificate["hash"]
    blocks = len(expected.certificate["blocks"])
    assert sum(map(len, searched(again, 2))) == blocks - sum(kept.values())
    assert stored(checkpoint) == {checkpoint.name: blocks}


def test_one_process_continues_the_search_of_ranks_and_no_other_search(tmp_path, expected):
    checkpoint = tmp_path / "first" / "blocks.txt"
    checkpoint.parent.mkdir()
    assert run_ranks(3, checkpoint, tmp_path / "out", 1).returncode != 0
    assert len(stored(checkpoint)) > 1
    copy = shutil.copytree(checkpoint.parent, tmp_path / "copy") / checkpoint.name
    copy.unlink()
    options = {"precision": 26, "device": "cpu"}
    with pytest.raises(tmd.CheckpointError, match=r"blocks\.txt\.rank1 belongs to a search with"):
        tmd.search("exp", ("2**-10", "1"), bits=19, checkpoint=copy, **options)
    result = tmd.search("exp", ("2**-10", "1"), bits=20, checkpoint=checkpoint, **options)
    assert result.certificate["hash"] == expected.certificate["hash"]
    assert stored(checkpoint) == {checkpoint.name: len(expected.certificate["blocks"])}
