"""Devices for the tests, whose bodies run on the CPU and on a GPU alike."""

import collections
import gc
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

FIRST_ON_GPUS = {
    "test_parts_on_gpus_are_one_flow": 9, "test_the_likelihood_of_intervals_of_all_sizes": 1,
    "test_weights_count_observations": 1,
    "test_fields_cross_faces_across_x_beside_populations_in_16_bits": 1, "test_steps_in_float64": 6,
    "test_couette_flow_and_conduction_between_cylinders_that_turn": 1,
    "test_it_is_proved_by_both_checkers": 1, "test_any_conditions_around_any_solids": 1,
    "test_two_devices_of_a_process_compute_the_flow_of_one": 15,
    "test_steps_match_the_reference": 2, "test_many_steps_are_those_of_populations": 3,
    "test_ranks_share_a_flow": 1, "test_ranks_compute_the_flow_of_one": 0,
}  # fmt: skip
"""Tests whose kernels take longest to compile on GPUs, and how many of their cases begin first:
those that compile different kernels. Others would wait for these."""

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


def order_for_gpus(items, workers):
    """Order tests for so many processes, each of which begins with equal shares of the items.

    The first cases of `FIRST_ON_GPUS` come first, then their other cases, then the first cases of
    all other tests, their second cases, and so on: cases of a test compile the same kernels, and
    processes that begin with them at the same time wait for one another.
    """
    names, seen = [*FIRST_ON_GPUS], collections.Counter()

    def place(item):
        if "slow" in item.keywords:
            return 3, 0
        name = getattr(item, "originalname", item.name)
        seen[item.path, name] += 1
        number = seen[item.path, name]
        if name in FIRST_ON_GPUS:
            return (0, names.index(name)) if number <= FIRST_ON_GPUS[name] else (1, number)
        return 2, number

    items = sorted(items, key=place)
    each, more = divmod(len(items), workers)
    shares = [items[k : each * workers : workers] for k in range(workers)]
    for share, item in zip(shares[workers - more :], items[each * workers :], strict=True):
        share.append(item)
    return [item for share in shares for item in share]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Let Python search for garbage only among what tests make, and seldom: a tenth of the time."""
    gc.disable()
    result = yield
    gc.enable()
    gc.freeze()
    gc.set_threshold(20_000, 5, 5)  # compiling makes many objects that are used to its end
    return result


@pytest.hookimpl(trylast=True)  # after -m has chosen tests
def pytest_collection_modifyitems(config, items):
    """Put tests into their order, and skip slow ones unless --slow or -m asks.

    The simulator runs tests that are marked for it: others are too large, compile or need a driver.
    """
    places = place_files(items)
    items.sort(key=lambda item: places[item.path])
    if config.getoption("--require-cuda"):
        items[:] = order_for_gpus(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
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
