"""Measurements: profiles of regions, benchmarks, limits, and the commit in records."""

import json
import subprocess
import time

import pytest

import hetero
from hetero.measurement import environment, limit_loops


def test_regions_nest_and_add_up():
    with hetero.profile("run") as profile:
        for _ in range(3):
            with hetero.region("outer"), hetero.region("inner"):
                time.sleep(0.002)
    outer = profile.children["outer"]
    inner = outer.children["inner"]
    assert (outer.calls, inner.calls) == (3, 3)
    assert 0.006 <= inner.wall <= outer.wall <= profile.wall
    tree = json.loads(profile.to_json())
    assert tree["children"][0]["children"][0]["name"] == "inner"
    assert "inner" in str(profile)


def test_benchmark_separates_the_first_call():
    calls = []

    def work():
        time.sleep(0.02 if not calls else 0.001)
        calls.append(1)

    timing = hetero.benchmark(work, repeats=5, min_time=0.002)
    assert timing.first >= 0.02
    assert 0.001 <= timing.best <= timing.median <= timing.worst
    assert timing.rate(10) == pytest.approx(10 / timing.median)
    assert timing.as_dict()["clock"] == "wall"
    with pytest.raises(ValueError, match="repeats"):
        hetero.benchmark(work, repeats=3)
    with pytest.raises(ValueError, match="clock"):
        hetero.benchmark(work, clock="device", device="cpu")


def test_limits_are_measured_once(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    calls = []

    class Twin:
        @staticmethod
        def measure():
            calls.append(1)
            return dict.fromkeys(("copy", "fma_float32", "fma_float64", "mad_int64", "launch"), 1e9)

    monkeypatch.setattr(limit_loops, "loops", lambda device: Twin)
    first = hetero.limits("cpu")
    assert hetero.limits("cpu") == first
    assert len(calls) == 1
    hetero.limits("cpu", refresh=True)
    assert len(calls) == 2
    (tmp_path / "hetero" / "limits.json").write_text("{broken")
    assert hetero.limits("cpu") == first
    assert len(calls) == 3


@pytest.mark.cuda
def test_gpu_limits_agree_with_a_plain_copy(require_cuda):
    cupy = pytest.importorskip("cupy")
    source = cupy.ones(1 << 28)
    target = cupy.empty_like(source)
    timing = hetero.benchmark(
        lambda: cupy.copyto(target, source), clock="device", device="cuda", repeats=9
    )
    plain = 2 * source.nbytes / timing.median
    assert hetero.limits("cuda", refresh=True).copy == pytest.approx(plain, rel=0.05)


def test_records_that_are_written_do_not_change_the_commit(tmp_path):
    source, record = tmp_path / "package" / "module.py", tmp_path / "benchmarks/records/one.json"
    for path in (source, record):
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    names = ["-c", "user.name=A", "-c", "user.email=a@b.example"]
    for words in (["init", "-q"], ["add", "."], [*names, "commit", "-q", "-m", "First"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    clean = environment.commit(source.parent)
    assert len(clean) == 12
    record.write_text("[]")
    assert environment.commit(source.parent) == clean
    source.write_text("[]")
    assert environment.commit(source.parent) == f"{clean}+"
