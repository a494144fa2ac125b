"""Checkpoints: bit for bit, whole or not at all."""

import numpy as np
import pytest

import lbm
from flows import pair


def flow(device, pattern="esoteric", precision="float64"):
    return pair("cavity with bodies", lbm.TRT(0.7), device=device, pattern=pattern,
                precision=precision)[0]  # fmt: skip


@pytest.mark.parametrize("steps", [4, 5])
@pytest.mark.parametrize("precision", ["float64", "float16"])
def test_restart_is_bit_exact(steps, precision, device, tmp_path):
    through = flow(device, precision=precision).run(steps)
    file = through.save(tmp_path / "state")
    through.run(7)
    again = flow(device, precision=precision).restore(file)
    assert again.steps == steps
    again.run(7)
    assert np.array_equal(through.populations(), again.populations())


def test_another_pattern_goes_on(device, tmp_path):
    first = flow(device, "esoteric").run(5)
    second = flow(device, "aa").restore(first.save(tmp_path / "state"))
    assert np.array_equal(first.run(4).populations(), second.run(4).populations())


@pytest.mark.parametrize("where", [3, 60, -40, -5])
def test_a_damaged_file_is_refused_and_nothing_changes(where, tmp_path):
    s = flow("cpu").run(2)
    file = s.save(tmp_path / "state")
    data = bytearray(file.read_bytes())
    data[where] ^= 1
    file.write_bytes(data)
    s.run(1)
    before = s.populations()
    with pytest.raises(lbm.CheckpointError, match="state"):
        s.restore(file)
    assert np.array_equal(s.populations(), before)
    assert s.steps == 3


def test_a_cut_file_is_refused(tmp_path):
    s = flow("cpu")
    file = s.save(tmp_path / "state")
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(lbm.CheckpointError):
        s.restore(file)
    file.write_bytes(b"")
    with pytest.raises(lbm.CheckpointError, match="0 bytes"):
        s.restore(file)


def test_numbers_of_numpy_are_the_same_problem(tmp_path):
    operators = lbm.TRT(np.float64(0.7), magic=np.float64(0.25)), lbm.TRT(0.7, magic=0.25)
    first, second = (lbm.Simulation((4, 4, 4), collision=c, device="cpu") for c in operators)
    assert second.restore(first.run(3).save(tmp_path / "state")).steps == 3


def test_the_folder_of_a_checkpoint_is_made(tmp_path):
    """A run of hours is not lost because of a folder."""
    file = flow("cpu").save(tmp_path / "new" / "folder" / "state")
    assert [p.name for p in file.parent.iterdir()] == ["state"]


def test_another_problem_is_refused(tmp_path):
    file = flow("cpu").save(tmp_path / "state")
    other = pair("open channel", lbm.TRT(0.7), precision="float64", device="cpu")[0]
    with pytest.raises(lbm.CheckpointError, match="walls="):
        other.restore(file)


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    s = flow("cpu")
    file = s.save(tmp_path / "state")
    old = file.read_bytes()
    s.run(1)
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        s.save(file)
    assert file.read_bytes() == old
    assert [p.name for p in tmp_path.iterdir()] == ["state"]
