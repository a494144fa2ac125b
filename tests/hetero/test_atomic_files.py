"""Files are replaced as a whole or not at all."""

import os
from pathlib import Path

import pytest

import tmd
from hetero.data_files import atomic_files
from hetero.data_files.atomic_files import lock_name, replace_atomically


def test_a_file_is_unchanged_if_writing_fails(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("before")

    def write_half():
        with replace_atomically(path) as part:
            part.write_text("half of it")
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        write_half()
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["list.txt"]


def test_devices_are_written_to_and_not_replaced():
    null = Path(os.devnull)
    with replace_atomically(null) as part:
        assert part == null
        part.write_text("text")
    assert not null.is_file()


def test_files_of_the_user_with_a_similar_name_stay(tmp_path):
    names = ["run.state.my-notes.part.state", "run.state.1.part.state", "run.state.part.state"]
    for name in names:
        (tmp_path / name).write_text("mine")
    abandoned = tmp_path / "run.state.123-0a1b2c3d.part.state"
    abandoned.touch()
    with replace_atomically(tmp_path / "run.state") as part:
        part.write_text("new")
    assert not abandoned.exists()
    assert all((tmp_path / name).read_text() == "mine" for name in names)


def test_who_waits_for_a_name_does_not_lock_a_file_that_is_removed_meanwhile(tmp_path, monkeypatch):
    path, locked, flock = tmp_path / "name.lock", [], atomic_files.fcntl.flock

    def remove_first(descriptor, operation):
        flock(descriptor, operation)
        locked.append(descriptor)
        if len(locked) == 1:  # by the one who had the lock
            path.unlink()

    monkeypatch.setattr(atomic_files.fcntl, "flock", remove_first)
    with lock_name(path, wait=True) as is_ours, lock_name(path, wait=False) as is_another:
        assert is_ours
        assert not is_another
    assert not path.exists()


def test_lists_of_hard_cases_are_whole_or_unchanged(tmp_path, monkeypatch):
    result = tmd.search("exp", (1.0, 1.0 + 2.0**-40), bits=8, device="cpu")
    path = result.write(tmp_path / "exp.wc")
    before = path.read_text()
    assert before == "\n".join(result.lines()) + "\n"

    def write_half(self, text):
        with self.open("w") as file:
            file.write(text[: len(text) // 2])
        raise OSError("the disk is full")

    monkeypatch.setattr(Path, "write_text", write_half)
    with pytest.raises(OSError, match="full"):
        result.write(path)
    assert path.read_text() == before
    assert os.listdir(tmp_path) == ["exp.wc"]
