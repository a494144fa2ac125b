"""Processes that need the same function take turns: one compiles it, the others load its code."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hetero.compile_cache import claims, store

fcntl = pytest.importorskip("fcntl", reason="the system has no locks")

COMPILE = """
import sys
from hetero.compile_cache.disk_cache import DiskCache
from hetero.jit import scalar, serial

@scalar
def inner(x):
    return x * x

@serial
def outer(x):
    return inner(x) + inner(x + 1.0)

print("ready", flush=True)
sys.stdin.readline()
assert outer(1.0) == 5.0
print(DiskCache.misses, flush=True)
"""
FAIL = """
from hetero.jit import serial

@serial
def wrong(x):
    return x + "text"

try:
    wrong(1.0)
except Exception as error:
    print(type(error).__name__, flush=True)
input()
"""
HOLD = """
from hetero.compile_cache import claims
print(claims.claim("toy", "name"), flush=True)
input()
"""


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Return a function that starts a process with code in a file, and a cache of this test."""
    monkeypatch.setenv("HETERO_CACHE_DIR", str(tmp_path))
    path = tmp_path / "program.py"

    def start(code):
        path.write_text(code)
        process = subprocess.Popen(
            [sys.executable, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "HETERO_CACHE": "1"},
        )  # fmt: skip
        started.append(process)
        return process, process.stdout.readline().strip()

    started = []
    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_two_processes_compile_each_function_once(start):
    processes = [start(COMPILE)[0] for _ in range(2)]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    misses = sorted(int(process.stdout.readline()) for process in processes)
    assert misses == [0, 2]


def test_a_compilation_that_fails_leaves_no_claim(start):
    assert start(FAIL)[1] == "TypingError"
    fcntl.lockf(store.open_claims(), fcntl.LOCK_EX | fcntl.LOCK_NB)  # all of it


def test_who_waits_goes_on_when_the_other_process_dies(start):
    process, answer = start(HOLD)
    assert answer == "False"
    waited = []
    thread = threading.Thread(target=lambda: waited.append(claims.claim("toy", "name")))
    thread.start()
    thread.join(0.3)
    assert waited == []
    process.kill()
    thread.join(20.0)
    assert waited == [True]
    claims.release("toy", "name")


def test_who_waits_too_long_compiles(start, monkeypatch):
    monkeypatch.setattr(claims, "LONGEST_WAIT", 0.1)
    start(HOLD)
    assert claims.claim("toy", "name")
