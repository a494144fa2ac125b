"""Odd arguments give a result, or an error that names the argument; nothing is modified.

`python tools/faults.py` runs all cases; here are those of calls that take no time, and of the
others a part that is drawn at random.
"""

import importlib
import inspect
import random
import zlib
from pathlib import Path

import pytest

import hetero
from faults.campaign import PACKAGES, calls_of
from faults.judge import verdict, verdict_on_good_arguments
from public_calls import CALLS as PUBLIC_CALLS

CASES_OF_LONG_CALLS = 6

CALLS = [call for package in PACKAGES for call in calls_of(package)]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_callable_takes_part(package):
    module = importlib.import_module(package)
    public = {name for name in module.__all__ if callable(getattr(module, name))}
    called = {call.name.split(".")[1].partition(",")[0].partition(" ")[0]
              for call in calls_of(package)}  # fmt: skip
    left_out = importlib.import_module(f"faults.{package}_calls").NOT_CALLED
    assert public - called - left_out == set()


def takes_arguments(method):
    """Return whether a method or function, not a property, has parameters besides `self`."""
    is_method = inspect.isfunction(method) or inspect.ismethod(method)
    return is_method and bool(set(inspect.signature(method).parameters) - {"self"})


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_method_takes_part(package):
    module = importlib.import_module(package)
    called = {call.name.partition(",")[0].partition(" ")[0] for call in calls_of(package)}
    methods = set()
    for name in module.__all__:
        cls = getattr(module, name)
        if inspect.isclass(cls) and not issubclass(cls, BaseException):
            methods |= {
                f"{name}.{method}"
                for base in cls.__mro__
                if base.__module__.partition(".")[0] == package
                for method in vars(base)
                if not method.startswith("_") and takes_arguments(getattr(cls, method))
            }
    left_out = importlib.import_module(f"faults.{package}_calls").NOT_CALLED
    assert {f"{package}.{name}" for name in methods - left_out} - called == set()


def test_every_public_function_with_a_device_is_called():
    """test_second_gpu.py calls them all, and tools/guard.py compares their results."""
    called = {name.partition(",")[0] for name in PUBLIC_CALLS}
    public = set()
    for package in ("stablegpu", "rode", "sbth", "tmd", "lbm"):
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if not callable(value) or (inspect.isclass(value) and issubclass(value, Exception)):
                continue
            if {"device", "devices"} & set(inspect.signature(value).parameters):
                public.add(f"{package}.{name}")
    public -= {"sbth.solver_for", "sbth.forecast_eigsh"}  # they compute nothing
    assert public <= called


@pytest.fixture
def little_memory():
    """Let requests for more than a gigabyte fail, as on a small machine."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        pytest.skip("the memory of a process is not known here")
    used = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture(scope="module")
def measured_limits():
    """Measure the machine's limits, which takes more memory than the tests leave."""
    hetero.limits("cpu")


@pytest.mark.usefixtures("measured_limits", "little_memory")
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_odd_arguments(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cases = list(call.cases())
    if call.takes_long:
        cases = random.Random(zlib.crc32(call.name.encode())).sample(cases, CASES_OF_LONG_CALLS)
    assert verdict_on_good_arguments(call) is None
    faults = [
        f"{argument}={odd}: {fault}"
        for argument, odd in cases
        if (fault := verdict(call, argument, odd)) is not None
    ]
    assert not faults, "\n".join(faults)
