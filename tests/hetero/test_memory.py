"""Free memory respects the system, a container's limit and the limit of the process."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import hetero
from hetero import memory

CPU = hetero.Device("cpu")


@pytest.mark.parametrize(
    ("current", "statistics", "free"),
    [(400_000, "anon 300000\ninactive_file 50000\n", 650_000), (1_000_001, "anon 1000001\n", 0)],
)
def test_the_limit_of_a_container_counts(current, statistics, free, tmp_path, monkeypatch):
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text(f"{current}\n")
    (tmp_path / "memory.stat").write_text(statistics)
    monkeypatch.setattr(memory, "Path", lambda p: tmp_path if "cgroup" in p else Path(p))
    assert memory.free_bytes(CPU) == free


def test_the_error_says_need_free_and_remedy():
    error = memory.shortage("a cube", CPU, 3 << 30, 1 << 20, ["take less", "or nothing"])
    expected = "a cube needs 3 GiB on cpu, which has 1 MiB free. Remedy: take less; or nothing"
    assert str(error) == expected
    assert str(pickle.loads(pickle.dumps(error))) == expected


@pytest.mark.cuda
def test_host_memory_that_a_gpu_can_access_is_known(require_cuda):
    from hetero.cuda.driver import cuda, is_host_memory

    assert is_host_memory(cuda.mapped_array((2, 3), np.float32))
    assert not is_host_memory(cuda.device_array((2, 3), np.float32))
