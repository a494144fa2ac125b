"""Processes and folders for tests of compiled code on disk."""

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
