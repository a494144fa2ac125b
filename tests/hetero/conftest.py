"""Processes and folders for tests of compiled code on disk, and a stand-in for the GPU's driver."""

import functools
import os

import pytest

from cache_tree import Tree
from fork_server import ForkServer


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A process that has loaded Numba and forks for each run."""
    if not hasattr(os, "fork"):
        pytest.skip("processes are forked")
    server = ForkServer(tmp_path_factory.mktemp("server"))
    yield server
    server.close()


@pytest.fixture
def tree(tmp_path, server) -> Tree:
    return Tree(tmp_path, server)


@pytest.fixture
def replace_driver(monkeypatch):
    """Return a function that replaces functions of CUDA's driver by others, by their names.

    They return what the driver's would return besides success, or an error.
    """
    driver = pytest.importorskip("cuda.bindings.driver")

    def answer(function, *arguments):
        result = function(*arguments)
        if isinstance(result, driver.CUresult):
            return (result,)
        success = driver.CUresult.CUDA_SUCCESS
        return (success,) if result is None else (success, result)

    def replace(**functions):
        for name, function in functions.items():
            monkeypatch.setattr(driver, name, functools.partial(answer, function))

    return replace
