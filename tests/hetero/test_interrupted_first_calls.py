"""Ctrl-C in a first call, which imports Numba and compiles, ruins no later call."""

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hetero.cpu.whole_imports import import_whole
from hetero.deferred_signals import DeferredSignals, run_whole
from hetero.numba_internals.dispatchers import wrap_compilations

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests" / "support" / "cold_call.py"


def press_ctrl_c():
    """Send this process what a terminal sends it for Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("inner", [contextlib.nullcontext, DeferredSignals])
def test_ctrl_c_waits_for_the_end_of_the_outermost_block(inner):
    done = []

    def run():
        with DeferredSignals():
            with inner():
                press_ctrl_c()
            done.append(1)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert done == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_handler_of_the_user_is_called_and_kept():
    received = []

    def handler(number, frame):
        received.append(number)

    before = signal.signal(signal.SIGINT, handler)
    try:
        with DeferredSignals():
            press_ctrl_c()
            press_ctrl_c()
            assert received == []
        assert received == [signal.SIGINT] * 2
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("way", ["_compile_for_args", "compile"])
def test_a_compilation_is_finished_before_ctrl_c_counts(way):
    class Dispatcher:
        compiled = False

        def compile(self):
            press_ctrl_c()
            self.compiled = True

        _compile_for_args = compile

    dispatcher = Dispatcher()
    wrap_compilations(dispatcher, run_whole)
    with pytest.raises(KeyboardInterrupt):
        getattr(dispatcher, way)()
    assert dispatcher.compiled


def test_an_import_is_finished_before_ctrl_c_counts(tmp_path, monkeypatch):
    (tmp_path / "interrupted_package").mkdir()
    (tmp_path / "interrupted_package" / "__init__.py").touch()
    folder = tmp_path / "interrupted_package"
    (folder / "inner.py").write_text("import os; os.kill(os.getpid(), 2); value = 1")
    (folder / "outer.py").write_text("from interrupted_package import inner; inner.value = 2")
    monkeypatch.syspath_prepend(tmp_path)
    import_whole("interrupted_package")

    def import_and_wait():
        importlib.import_module("interrupted_package.outer")
        time.sleep(20)

    with pytest.raises(KeyboardInterrupt):
        import_and_wait()
    assert sys.modules["interrupted_package.inner"].value == 2
    assert "interrupted_package.outer" in sys.modules  # it is not executed a second time
    assert importlib.import_module("interrupted_package.outer").inner.value == 2


@pytest.mark.parametrize(
    "seconds", [0.9, *(pytest.param(0.2 * k, marks=pytest.mark.slow) for k in range(1, 20))]
)
def test_a_call_after_an_interrupted_first_call(tmp_path, seconds):
    environment = os.environ | {"HETERO_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(SCRIPT), str(seconds), "ndtr"]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
    said = process.stdout.split()[:2]
    assert said in (["interrupted", "right"], ["finished", "right"]), process.stderr


def test_a_module_that_was_left_half_loaded_is_loaded_again():
    """Python keeps such a module if Ctrl-C comes at a bad moment of its import."""
    code = """
import importlib.machinery, sys
name = "hetero.cpu.whole_imports"
half = type(sys)(name)
half.__spec__ = importlib.machinery.ModuleSpec(name, None)
half.__spec__._initializing = True
sys.modules[name] = half
import tmd
assert sys.modules[name] is not half
print(tmd.__name__)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.stdout == "tmd\n", run.stderr
