"""Checkpoints: exact to the bit, and written and restored completely or not at all."""

import hashlib
import json
import resource
import signal
import tracemalloc

import numpy as np
import pytest

import lbm
from covering import cover_pairs
from flows import FORMS, PATTERNS, on_parts, pair


def flow(device, storage="float64", **options):
    options |= {"device": device, **FORMS[storage]}
    return pair("cavity with bodies", lbm.TRT(0.7), **options)[0]


@pytest.mark.parametrize(
    ("steps", "storage", "pattern", "grid"),
    cover_pairs([4, 5], ["float64", "float16"], PATTERNS, [(1, 1, 1), (1, 1, 2), (3, 2, 1)]),
)
def test_a_restart_is_bit_exact(steps, storage, pattern, grid, device, tmp_path):
    """Also with another pattern and, on the CPU, in other parts."""
    through = flow(device, storage=storage).run(steps)
    file = through.save(tmp_path / "state")
    parts = on_parts(grid if device == "cpu" else (1, 1, 1), device)
    again = flow(pattern=pattern, storage=storage, **parts).restore(file)
    assert again.steps == steps
    assert again.save(tmp_path / "again").read_bytes() == file.read_bytes()
    assert np.array_equal(through.run(7).populations(), again.run(7).populations())


def test_damaged_and_cut_files_are_refused_and_nothing_changes(tmp_path):
    s = flow("cpu").run(2)
    file = s.save(tmp_path / "state")
    data, before = file.read_bytes(), s.run(1).populations()
    for where in (3, 60, -2000, -75, -60, -40, -36, -5):
        damaged = bytearray(data)
        damaged[where] ^= 1
        file.write_bytes(damaged)
        with pytest.raises(lbm.CheckpointError, match="state"):
            s.restore(file)
        assert np.array_equal(s.populations(), before)
        assert s.steps == 3
    for size, words in ((-100, "checksum|ends|damaged"), (0, "0 bytes")):
        file.write_bytes(data[:size])
        with pytest.raises(lbm.CheckpointError, match=words):
            s.restore(file)


def change_header(file, change):
    """Change the header of a checkpoint of one slab, and its checksums with it."""
    data = file.read_bytes()
    start = data.index(b"\n") + 9
    size = int.from_bytes(data[start - 8 : start], "little")
    text = change(json.loads(data[start : start + size]))
    text = text if isinstance(text, bytes) else json.dumps(text).encode()
    head = data[: start - 8] + len(text).to_bytes(8, "little") + text
    slab = data[start + size : -72]
    table = digest(slab) + (1).to_bytes(8, "little")
    file.write_bytes(head + slab + table + digest(head + table))


def digest(data):
    return hashlib.blake2b(data, digest_size=32).digest()


@pytest.mark.parametrize(("key", "value"), [
    *(("slab", v) for v in (-1, 0, 1.5, "2", None, True)),
    *(("steps", v) for v in (-3, 2.0, "7", None, False, 10**30)),
    *(("shape", v) for v in (12, [12, 9], [12, 9, "7"], [12, -9, -7], None, [12, 9, 7.0])),
    *(("force", v) for v in (0, [1e-4, 0.0], "none", [None] * 3)),
    *(("precision", v) for v in (None, 64)), *(("walls", v) for v in (None, [])),
    *(("collision", v) for v in (None, {})),
])  # fmt: skip
def test_a_header_with_a_wrong_field_is_refused(key, value, tmp_path):
    s = flow("cpu")
    file = s.save(tmp_path / "state")
    change_header(file, lambda head: head | {key: value})
    with pytest.raises(lbm.CheckpointError, match=key):
        s.restore(file)
    change_header(file, lambda head: {k: v for k, v in head.items() if k != key})
    with pytest.raises(lbm.CheckpointError, match=key):
        s.restore(file)
    assert s.steps == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_state_that_is_not_finite_is_neither_saved_nor_restored(bad, tmp_path):
    s = flow("cpu")
    file = s.save(tmp_path / "state")
    before = file.read_bytes()
    s.domain.engine.populations[0][0, 1 + 12 * (2 + 9 * 3)] = bad
    with pytest.raises(lbm.UnstableError, match="not saved") as caught:
        s.save(file)
    assert caught.value.cell == (1, 2, 3)
    assert file.read_bytes() == before
    values = np.frombuffer(before, np.uint8).copy()
    values[-80:-72] = np.frombuffer(np.float64(bad).tobytes(), np.uint8)
    file.write_bytes(values.tobytes())
    change_header(file, lambda head: head)
    other = flow("cpu").run(1)
    state = other.populations()
    with pytest.raises(lbm.CheckpointError, match="not finite"):
        other.restore(file)
    assert np.array_equal(other.populations(), state)


@pytest.mark.parametrize("write", ["save", "write_vtk"])
def test_a_full_disk_leaves_the_old_file(write, tmp_path):
    s = flow("cpu")
    path = tmp_path / "flow.vti"
    getattr(s, write)(path)
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
        with pytest.raises(OSError, match="File too large"):
            getattr(s.run(1), write)(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["flow.vti"]


def test_memory_for_a_checkpoint_is_a_share_of_the_populations(tmp_path):
    """It was more than all of them, on each rank."""
    s = lbm.Simulation((128, 128, 64), device="cpu", check=0, keep_good_state=False).run(1)
    populations = 19 * 4 * 128 * 128 * 64
    for work in (s.save, s.restore):
        tracemalloc.start()
        work(tmp_path / "state")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 0.6 * populations


def test_a_checkpoint_belongs_to_the_cells_of_its_solids_and_to_where_they_move(tmp_path):
    def flow(x, path=None):
        ball = lbm.Solid(lbm.Sphere((x, 6, 6), 2), motion=path and lbm.Translation(path))
        return lbm.Simulation((13, 12, 12), boundaries={"ball": ball}, device="cpu")

    state = flow(6).save(tmp_path / "state")
    with pytest.raises(lbm.CheckpointError, match="cells of solids or velocities differ"):
        flow(5).restore(state)
    state = flow(6, lambda t: (0.2 * np.cos(t), 0, 0)).save(tmp_path / "state")
    with pytest.raises(lbm.CheckpointError, match=r"centre \[6.2, .* has .* centre \[6.1, "):
        flow(6, lambda t: (0.1 * np.cos(t), 0, 0)).restore(state)
    flow(6, lambda t: (0.2, 0.1 * t, 0)).restore(state)  # it goes on from the same place
