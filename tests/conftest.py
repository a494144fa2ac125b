"""Devices for the tests: the same bodies run on the CPU and on a GPU."""

import collections

import pytest

from hetero import Device, available
from hetero.cuda import driver
from hetero.measurement.environment import versions

_ran = collections.Counter()


def pytest_addoption(parser):
    parser.addoption(
        "--require-cuda",
        action="store_true",
        help="fail, do not skip, where a test needs a GPU and none is usable",
    )
    parser.addoption("--slow", action="store_true", help="run tests of many seconds, too")


def pytest_collection_modifyitems(config, items):
    """Slow tests run where they are asked for, by --slow or by -m."""
    if config.getoption("--slow") or "slow" in config.getoption("-m"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow: run with --slow"))


def pytest_report_header(config):
    found = ", ".join(f"{d} ({d.name})" for d in available())
    problem = driver.why_unavailable()
    lines = [
        f"devices: {found}",
        "versions: " + ", ".join(f"{k} {v}" for k, v in versions().items()),
    ]
    return lines if problem is None else [*lines, f"no GPU: {problem[0]}"]


@pytest.fixture
def require_cuda(request) -> None:
    """Skip without a GPU, or fail under --require-cuda."""
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
def _no_leftovers(monkeypatch):
    """The environment of the shell does not choose the device."""
    monkeypatch.delenv("HETERO_DEVICE", raising=False)


def pytest_sessionfinish(session):
    """Workers of pytest-xdist hand their counts on."""
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
