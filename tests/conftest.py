"""Devices for the tests, whose bodies run on the CPU and on a GPU alike."""

import collections
import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from hetero import Device, available
from hetero.cuda import driver
from hetero.measurement.environment import versions


def take_gpus_in_turn(gpus):
    """Give the GPUs of the host to this process in an order that differs from that of the next."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker.startswith("gw") and gpus > 1:
        order = ",".join(str((int(worker[2:]) + k) % gpus) for k in range(gpus))
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", order)  # CUDA reads it at its first call


take_gpus_in_turn(len(list(Path("/dev").glob("nvidia[0-9]*"))))

if driver.SIMULATOR:
    import simulated_blocks

    simulated_blocks.install()

_ran = collections.Counter()

LONGEST = ("test_simulator.py", "test_kernels.py", "test_documents.py", "test_examples.py")
"""Files that would keep one process busy at the end, while the other has nothing left."""

# Every run of the suite tries the same examples; --hypothesis-profile=search draws others.
settings.register_profile("suite", derandomize=True, max_examples=30, deadline=None, database=None)
settings.register_profile("search", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile("suite")


def pytest_addoption(parser):
    parser.addoption(
        "--require-cuda",
        action="store_true",
        help="let tests that need a GPU fail, not be skipped, if none is usable",
    )
    parser.addoption("--slow", action="store_true", help="also run tests that take many seconds")


def pytest_configure():
    """Let Ctrl-C have its effect even if a shell has started the tests with `&`."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def place_files(items):
    """Return the place of each file: first those that take longest, then folders side by side.

    Two processes that test one package at a time would compile the same code twice.
    """
    files = list(dict.fromkeys(item.path for item in items))
    folders = collections.Counter(file.parent for file in files)
    seen, places = collections.Counter(), {}
    for file in files:
        seen[file.parent] += 1
        places[file] = 1.0 + seen[file.parent] / folders[file.parent]
        if file.name in LONGEST:
            places[file] = LONGEST.index(file.name) / len(LONGEST)
    return places


def pytest_collection_modifyitems(config, items):
    """Put files into their order, and skip slow tests unless --slow or -m asks.

    The simulator runs tests that are marked for it: others are too large, compile or need a driver.
    """
    places = place_files(items)
    items.sort(key=lambda item: places[item.path])
    for item in items if driver.SIMULATOR else ():
        if "simulator" not in item.keywords:
            item.add_marker(pytest.mark.skip(reason="not marked for the simulator"))
    if config.getoption("--slow") or "slow" in config.getoption("-m"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow: run with --slow"))


def pytest_report_header(config):
    devices = ", ".join(f"{d} ({d.name})" for d in available())
    problem = driver.why_unavailable()
    lines = [
        f"devices: {devices}",
        "versions: " + ", ".join(f"{k} {v}" for k, v in versions().items()),
    ]
    return lines if problem is None else [*lines, f"no GPU: {problem[0]}"]


@pytest.fixture
def require_cuda(request) -> None:
    """Skip the test if no GPU is usable; fail it under --require-cuda."""
    if (problem := driver.why_unavailable()) is not None:
        if request.config.getoption("--require-cuda"):
            pytest.fail(f"--require-cuda: {problem[0]}")
        pytest.skip("no usable GPU")


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def device(request) -> str:
    """Name of the device on which the test body runs."""
    if request.param == "cuda":
        request.getfixturevalue("require_cuda")
    _ran[Device.parse(request.param).name] += 1
    return request.param


@pytest.fixture(autouse=True)
def _ignore_device_of_shell(monkeypatch):
    """Let the environment of the shell not choose the device."""
    monkeypatch.delenv("HETERO_DEVICE", raising=False)


def pytest_sessionfinish(session):
    """Send the counts of a pytest-xdist worker to the main process."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["ran"] = dict(_ran)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    _ran.update(getattr(node, "workeroutput", {}).get("ran", {}))


def pytest_terminal_summary(terminalreporter):
    terminalreporter.section("devices that ran")
    for name, count in _ran.items():
        terminalreporter.line(f"{name}: {count} tests")
    if driver.why_unavailable() is not None:
        terminalreporter.line("no GPU ran; kernels were compiled for sm_90 and simulated")
