"""The folder of compiled code: no code of others is loaded, and no files of others are removed."""

import logging
import os
import stat
import time
import warnings
from pathlib import Path

import pytest

from cache_tree import COUNT
from hetero.compile_cache import pruning, secure_files, store

CODE = "from toy.loops import plain; print(plain(3.0))" + COUNT
ERRORS = "import warnings; warnings.simplefilter('error'); "
needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away"
)


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    """The folder that holds everything, with one file in it."""
    monkeypatch.setenv("HETERO_CACHE_DIR", str(tmp_path))
    store.write("toy-0123456789abcdef", file_name(0), b"first")
    return tmp_path / store.NAME


def file_name(number: int) -> str:
    return f"loops.plain-{number:024x}"


def set_age(path: Path, days: float) -> None:
    then = time.time() - 86400.0 * days
    os.utime(path, (then, then))


def prune_now(root: Path, **limits: int) -> None:
    with secure_files.opened_folder(root) as descriptor:
        pruning.prune(descriptor, **limits)


# ---- what is removed ---------------------------------------------------------------------------


def test_files_that_it_has_not_written_are_left_alone(root):
    """Within its own folder, too, and whatever their folder is called."""
    mine = [
        root / "toy-0123456789abcdef" / "notes.txt",
        root / "toy-0123456789abcdef" / "deep-0123456789abcdef" / file_name(3),
        root / "thesis-2025" / file_name(4),
        root / "run-01" / "results",
    ]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
        set_age(path, 400)
    set_age(root / "toy-0123456789abcdef" / file_name(0), 400)
    prune_now(root)
    assert all(path.exists() for path in mine)
    assert not (root / "toy-0123456789abcdef" / file_name(0)).exists()


def test_links_are_not_followed(tmp_path, root):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target = elsewhere / file_name(5)
    target.write_text("mine")
    set_age(target, 400)
    (root / "toy-1111111111111111").symlink_to(elsewhere)
    (root / "toy-0123456789abcdef" / file_name(6)).symlink_to(target)
    prune_now(root)
    assert target.read_text() == "mine"
    assert store.read("toy-1111111111111111", file_name(5)) is None


def test_a_folder_with_its_name_that_it_has_not_made_is_not_touched(tmp_path, monkeypatch):
    monkeypatch.setenv("HETERO_CACHE_DIR", str(tmp_path))
    mine = tmp_path / store.NAME / "toy-0123456789abcdef" / file_name(0)
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    set_age(mine, 400)
    with pytest.warns(UserWarning, match="holds no CACHEDIR.TAG of heterokit"):
        store.write("toy-0123456789abcdef", file_name(1), b"data")
    assert [path.name for path in (tmp_path / store.NAME).rglob("*")] == [
        "toy-0123456789abcdef",
        file_name(0),
    ]


def test_what_was_used_longest_ago_goes_first(root):
    folder = root / "toy-0123456789abcdef"
    for number, days in enumerate((0, 1, 2, 29, 31, -31)):  # the last one has a date to come
        store.write(folder.name, file_name(number), bytes(1000))
        set_age(folder / file_name(number), days)
    prune_now(root)
    assert {path.name for path in folder.iterdir()} == {file_name(i) for i in range(4)}
    assert store.read(folder.name, file_name(3)) == bytes(1000)  # it is the last one used now
    prune_now(root, most_bytes=2500)
    assert {path.name for path in folder.iterdir()} == {file_name(0), file_name(3)}


def test_folders_of_older_sources_are_removed(root):
    for state in range(4):
        store.write(f"toy-{state:016x}", file_name(0), b"data")
        set_age(root / f"toy-{state:016x}" / file_name(0), state)
    store.write("other-0123456789abcdef", file_name(0), b"data")
    set_age(root / "toy-0123456789abcdef" / file_name(0), 5)
    prune_now(root, most_folders=2)
    left = {path.name for path in root.iterdir() if path.is_dir()}
    assert left == {f"toy-{0:016x}", f"toy-{1:016x}", "other-0123456789abcdef"}


def test_files_whose_writer_was_killed_are_removed(root):
    folder = root / "toy-0123456789abcdef"
    for name, days in (("a", 0.1), ("b", 0.0)):
        partial = folder / f"{file_name(1)}.{name * 16}{secure_files.PARTIAL}"
        partial.write_bytes(b"half")
        set_age(partial, days)
    prune_now(root)
    names = {path.name for path in folder.iterdir()}
    assert names == {file_name(0), f"{file_name(1)}.{'b' * 16}{secure_files.PARTIAL}"}


# ---- what is loaded ----------------------------------------------------------------------------


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_only_the_user_can_read_and_write(tmp_path, monkeypatch, umask):
    monkeypatch.setenv("HETERO_CACHE_DIR", str(tmp_path))
    old = os.umask(umask)
    try:
        store.write("toy-0123456789abcdef", file_name(0), b"data")
    finally:
        os.umask(old)
    for path in (tmp_path / store.NAME).rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert stat.S_IMODE((tmp_path / store.NAME).stat().st_mode) == 0o700
    assert store.read("toy-0123456789abcdef", file_name(0)) == b"data"


@pytest.mark.parametrize(
    "what", [".", "toy-0123456789abcdef", f"toy-0123456789abcdef/{file_name(0)}"]
)
@pytest.mark.parametrize("harm", ["group", "others", pytest.param("owner", marks=needs_root)])
def test_what_others_can_write_is_not_loaded(root, what, harm):
    assert store.read("toy-0123456789abcdef", file_name(0)) == b"first"
    path = root / what
    if harm == "owner":
        os.chown(path, 12345, -1)
    else:
        path.chmod(path.stat().st_mode | (stat.S_IWGRP if harm == "group" else stat.S_IWOTH))
    with pytest.warns(UserWarning, match="another user|other users can write"):
        assert store.read("toy-0123456789abcdef", file_name(0)) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it has been said
        assert store.read("toy-0123456789abcdef", file_name(0)) is None


def test_a_folder_of_others_is_not_used_and_the_answer_is_right(tree):
    assert tree.run(CODE) == ["7.0", "0", "2"]
    tree.folder().chmod(0o777)
    assert tree.run(CODE) == ["7.0", "0", "2"]
    assert tree.errors.count("compiled code cannot be kept") == 1
    assert tree.run(ERRORS + CODE) == ["7.0", "0", "2"]
    assert "other users can write" in tree.errors


@pytest.mark.parametrize("kind", ["fifo", "folder", "link"])
def test_what_is_no_regular_file_is_not_read(root, tmp_path, kind):
    path = root / "toy-0123456789abcdef" / file_name(0)
    content = path.read_bytes()
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        (tmp_path / "file").write_bytes(content)
        path.symlink_to(tmp_path / "file")
    with pytest.warns(UserWarning, match="cannot be kept"):
        assert store.read("toy-0123456789abcdef", file_name(0)) is None


# ---- where it is, and what happens where nothing can be written --------------------------------


def test_a_home_in_the_path_is_expanded(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HETERO_CACHE_DIR", "~/codes")
    assert store.root() == tmp_path / "codes" / store.NAME
    monkeypatch.delenv("HETERO_CACHE_DIR")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which the standard says to ignore
    assert tmp_path in store.root().parents


def test_a_relative_path_is_refused(tree):
    assert tree.run(CODE, HETERO_CACHE_DIR="codes") == ["7.0", "0", "2"]
    assert "HETERO_CACHE_DIR must be an absolute path, got 'codes'" in tree.errors
    assert not (tree.path / "codes").exists()


def test_a_user_without_a_home_gets_the_right_answer(tree):
    """Neither HOME nor an entry in the table of users, as in many containers."""
    code = (
        "import os, pwd\n"
        "def nobody(uid): raise KeyError(uid)\n"
        "pwd.getpwuid = nobody\n"
        "for name in ('HOME', 'HETERO_CACHE_DIR', 'NUMBA_CACHE_DIR', 'XDG_CACHE_HOME'):\n"
        "    os.environ.pop(name, None)\n"
    )
    assert tree.run(code + CODE) == ["7.0", "0", "2"]
    assert "the user has no home folder" in tree.errors


@pytest.mark.parametrize("filters", ["", ERRORS], ids=["warnings", "errors"])
def test_without_a_writable_folder_code_is_compiled_with_one_warning(tree, filters):
    (tree.path / "file").touch()
    nowhere = str(tree.path / "file" / "cache")  # not even root can make a folder there
    words = tree.run(filters + CODE, HETERO_CACHE_DIR=nowhere)
    assert words == ["7.0", "0", "2"]
    assert tree.errors.count("compiled code cannot be kept") == 1
    assert "HETERO_CACHE_DIR" in tree.errors


def test_a_full_disk_causes_no_failure(root, monkeypatch, caplog):
    def refuse(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store.secure_files, "write_file", refuse)
    with pytest.warns(UserWarning, match="No space left"):
        store.write("toy-0123456789abcdef", file_name(1), b"data")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.write("toy-0123456789abcdef", file_name(1), b"data")  # it has been said
        store._reported_places.clear()
        with caplog.at_level(logging.WARNING):
            store.write("toy-0123456789abcdef", file_name(1), b"data")
    assert "No space left" in caplog.text
    assert not (root / "toy-0123456789abcdef" / file_name(1)).exists()
