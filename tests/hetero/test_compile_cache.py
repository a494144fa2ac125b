"""Compiled code on disk is right, is loaded by other processes, and never causes a failure."""

import enum
import os
import shutil
import subprocess
import sys
import threading
import time
from types import ModuleType

import numpy as np
import pytest

from cache_tree import COUNT, ROOT
from hetero.compile_cache import notice, tables
from hetero.compile_cache.fingerprint import UnknownValueError, fingerprint
from hetero.jit import scalar
from hetero.numba_internals import compiler_lock

EVERYTHING = (
    "from toy.loops import *; "
    "print(plain(3.0), make_sum(twice, 0.5)(4), make_generated(3)(2.0))" + COUNT
)


def test_a_second_process_compiles_nothing(tree):
    *values, hits, misses = tree.run(EVERYTHING)
    assert values == ["7.0", "14.0", "16.0"]
    assert int(misses) >= 4
    written = {path: path.stat().st_ino for path in tree.files()}
    *again, hits, misses = tree.run(EVERYTHING)
    assert again == values
    assert (hits, misses) == ("3", "0")
    assert {path: path.stat().st_ino for path in tree.files()} == written


USES = """
from hetero.jit import serial
from toy.host import pages
from toy.scaling import scaled

@serial
def through_intrinsic(x):
    return scaled(x) + 1.0
"""


def test_edits_of_host_code_of_hetero_recompile_nothing(tree):
    shutil.copytree(ROOT / "hetero", tree.path / "hetero")
    code = "from toy.loops import plain; print(plain(3.0))" + COUNT
    assert tree.run_fresh(code) == ["7.0", "0", "2"]
    extension = tree.path / "hetero/numba_internals/registries.py"
    validation = tree.path / "hetero/validation.py"
    extension.write_text("# a comment\n" + extension.read_text())
    validation.write_text(validation.read_text() + "\nX = 1\n")
    tree.write("hetero/extra.py", "X = 1\n")
    assert tree.run_fresh(code) == ["7.0", "1", "0"]


@pytest.mark.parametrize("imported", [
    "from numba.extending import overload",
    "import numba.extending\noverload = numba.extending.overload",
    "from numba import (\n    types,\n    extending,\n)\noverload = extending.overload",
])  # fmt: skip
def test_an_edit_of_an_overload_recompiles_its_package(tree, imported):
    """It leaves no trace in the code that uses it."""
    overload = f"""
{imported}

def stub(x):
    raise NotImplementedError

@overload(stub)
def stub_of_float(x):
    return lambda x: x + 1.0
"""
    tree.write("toy/stubs.py", overload)
    uses = USES.replace("toy.scaling import scaled", "toy.stubs import stub")
    tree.write("toy/uses.py", uses.replace("scaled(x)", "stub(x)"))
    code = "from toy.uses import *; print(through_intrinsic(2.0))"
    tree.write("toy/host.py", "def pages(n):\n    return n + 1\n")
    assert tree.run(code + COUNT) == ["4.0", "0", "1"]
    assert tree.run(code + COUNT) == ["4.0", "1", "0"]
    tree.write("toy/stubs.py", overload.replace("x + 1.0", "x + 3.0"))
    assert tree.run(code + COUNT) == ["6.0", "0", "1"]


def test_the_simulator_takes_code_for_the_cpu_from_disk(tree):
    code = "from toy.loops import plain; print(plain(3.0))" + COUNT
    simulator = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_CUDA_WARN_ON_IMPLICIT_COPY": "0"}
    assert tree.run_fresh(code) == ["7.0", "0", "2"]
    assert tree.run_fresh(code, **simulator) == ["7.0", "1", "0"]
    assert tree.run_fresh(code, NUMBA_BOUNDSCHECK="1") == ["7.0", "0", "2"]


@pytest.mark.parametrize("damage", ["truncated", "flipped"])
def test_a_damaged_file_is_compiled_again(tree, damage):
    code = "from toy.loops import plain; print(plain(3.0))" + COUNT
    tree.run(code)
    before = {path: path.read_bytes() for path in tree.files()}
    for path, content in before.items():
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        path.write_bytes(flipped if damage == "flipped" else content[:middle])
    assert tree.run(code) == ["7.0", "0", "2"]
    assert tree.run(code) == ["7.0", "1", "0"]


def test_the_switch_turns_it_off(tree):
    tree.run(EVERYTHING, HETERO_CACHE="0")
    assert not tree.cache.exists()


def test_fingerprints_tell_values_apart():
    values = [0, 0.0, "0", b"0", None, (0,), [0], {0: 0}, np.float32(0), np.zeros(1), np.zeros(2)]
    values += [-0.0, True, 1, (), [], set(), np.float64(0), np.zeros((1, 1)), np.zeros(1, ">f8")]
    values += [enum.Enum("Case", {"FIRST": number}, module="user") for number in (1, 2)]
    assert len({fingerprint(value) for value in values}) == len(values)
    assert fingerprint(lambda x: x + 1) != fingerprint(lambda x: x + 2)
    with pytest.raises(UnknownValueError):
        fingerprint(object())


def test_a_function_that_calls_itself_is_not_kept():
    """Code that links a copy of it from disk lacks the symbol of the inner call, and aborts."""

    def f(x):
        return f(x - 1) if x > 0 else x

    @scalar
    def g(x):
        return g(x - 1) if x > 0 else x

    @scalar
    def caller(x):
        return g(x)

    for function in (f, g, caller):
        with pytest.raises(UnknownValueError, match="calls itself"):
            fingerprint(function)


@pytest.mark.parametrize("is_notebook", [False, True])
def test_a_user_who_waits_is_told_once(monkeypatch, capsys, is_notebook):
    name = "of_a_notebook" if is_notebook else "of_a_terminal"
    if is_notebook:
        monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    else:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    compiles, done = threading.Event(), threading.Event()

    def compile_slowly():
        compiler_lock.acquire()
        compiles.set()
        done.wait()
        compiler_lock.release()

    thread = threading.Thread(target=compile_slowly)
    thread.start()
    compiles.wait()
    for _ in range(3):
        notice.compilation_begins(f"{name}.loops", after=0.05)
    time.sleep(0.3)
    done.set()
    thread.join()
    line, output = f"{name}: compiling (once per installation) ...\n", capsys.readouterr()
    assert (output.out, output.err) == ((line, "") if is_notebook else ("", line))


def run_twice(code, folder) -> list[list[str]]:
    """Return the words that each of two new interpreters prints."""
    environment = os.environ | {"HETERO_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", code]
    return [
        subprocess.check_output(command, cwd=ROOT, env=environment, text=True).split()
        for _ in range(2)
    ]


@pytest.mark.cuda
def test_a_second_process_finds_kernels(require_cuda, tmp_path):
    code = (
        "import numpy as np; from hetero import philox; "
        "print(philox.words(4, rng=1, device='cuda')[0])" + COUNT
    )
    (word, _, misses), (again, _, no_misses) = run_twice(code, tmp_path)
    assert word == again
    assert int(misses) > 0
    assert no_misses == "0"


SUM = """
import numpy as np
from hetero.jit import scalar, serial

@scalar
def square(x):
    return x * x

@serial(fastmath={"reassoc", "contract", "nsz"})
def add_squares(x):
    total = 0.0
    for k in range(x.size):
        total += square(x[k]) / 3.0
    return total

print(add_squares(np.random.default_rng(0).standard_normal(1003)).hex())
"""


def test_the_process_that_compiles_gives_the_same_last_bits_as_later_ones(tmp_path):
    """The compiler chooses the order of sums, and must not choose it twice."""
    first, second = run_twice(SUM + COUNT.removeprefix("; "), tmp_path)
    assert first[:-2] == second[:-2]
    assert second[-1] == "0"


def test_a_table_is_computed_once(tmp_path, monkeypatch):
    monkeypatch.setenv("HETERO_CACHE_DIR", str(tmp_path))
    calls = []

    def compute():
        calls.append(1)
        return np.arange(6.0).reshape(2, 3)

    for _ in range(2):
        table = tables.cached_table("hetero", "numbers", compute)
        np.testing.assert_array_equal(table, np.arange(6.0).reshape(2, 3))
    assert len(calls) == 1
    (file,) = tmp_path.glob("*/*/table.numbers-*")
    file.write_bytes(b"damaged")
    tables.cached_table("hetero", "numbers", compute)
    monkeypatch.setenv("HETERO_CACHE", "0")
    tables.cached_table("hetero", "numbers", compute)
    assert len(calls) == 3
