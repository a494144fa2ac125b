"""Compiled code on disk: what is kept is found again, and nothing piles up."""

import os
import subprocess
import sys
import warnings

import pytest

from hetero.cuda.driver import SIMULATOR

MODULE = """
from hetero.jit import scalar, serial


@scalar
def twice(x):
    return x + x


def applied(f):
    @serial
    def loop(n):
        total = 0.0
        for i in range(n):
            total += f(i)
        return total

    return loop


@serial
def plain(n):
    return twice(n) + 1.0
"""


@pytest.mark.skipif(SIMULATOR, reason="the cache is for compiled code")
def test_a_second_process_writes_nothing(tmp_path):
    (tmp_path / "loops.py").write_text(MODULE)
    kept = tmp_path / "kept"
    environment = os.environ | {"HETERO_CACHE": "1", "NUMBA_CACHE_DIR": str(kept)}
    seen = []
    for _ in range(2):
        subprocess.run(
            [sys.executable, "-c", "from loops import *; print(plain(3.0), applied(twice)(4))"],
            cwd=tmp_path,
            env=environment,
            check=True,
        )
        seen.append({p.name: p.stat().st_mtime_ns for p in kept.rglob("*") if p.is_file()})
    assert seen[1] == seen[0]
    assert any("plain" in name for name in seen[0])
    assert not any("loop-" in name for name in seen[0])


@pytest.mark.skipif(SIMULATOR, reason="the cache is for compiled code")
def test_without_a_folder_for_it_code_is_not_kept_and_that_is_said_once(monkeypatch):
    """An installed package in a container: nothing can be written to."""
    from numba.core.caching import _CacheLocator

    from hetero import jit

    monkeypatch.setenv("HETERO_CACHE", "1")
    monkeypatch.setattr(_CacheLocator, "ensure_cache_path", _refuse)
    jit._warn_that_nothing_is_cached.cache_clear()

    def twice(x):
        return x + x

    with pytest.warns(UserWarning, match="Set NUMBA_CACHE_DIR"):
        one = jit.scalar(twice)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = jit.serial(twice)
    assert one(2) == other(2) == 4


def _refuse(self):
    raise PermissionError
