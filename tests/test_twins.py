"""Every topic has its loops for both targets, with the same functions and arguments."""

import importlib
import inspect
from pathlib import Path

import pytest

from hetero import Device

ROOT = Path(__file__).parents[1]
PACKAGES = ("hetero", "stablegpu", "rode", "lbm", "sbth", "tmd", "studies")

ALONE: dict[str, str] = {}
"""Modules without a twin, with the reason."""


def modules(kind: str) -> set[str]:
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(f".{kind}")
        for package in PACKAGES
        for path in (ROOT / package).rglob(f"{kind}.py")
    }


def test_every_loop_module_has_its_twin():
    alone = modules("cpu") ^ modules("cuda")
    assert alone == set(ALONE)


def host_functions(topic: str, kind: str) -> dict[str, list[str]]:
    """Return the public functions of one twin, with the names of their arguments."""
    module = importlib.import_module(f"{topic}.{kind}")
    return {
        name: list(inspect.signature(f).parameters)
        for name, f in vars(module).items()
        if inspect.isfunction(f) and f.__module__ == module.__name__ and name[0] != "_"
    }


TOPICS = sorted(modules("cpu") & modules("cuda"))


@pytest.mark.parametrize("topic", TOPICS)
def test_twins_have_the_same_functions(topic):
    assert host_functions(topic, "cpu")
    assert host_functions(topic, "cpu") == host_functions(topic, "cuda")


@pytest.mark.parametrize("topic", TOPICS)
def test_twins_have_the_functions_of_their_protocol(topic):
    """mypy does not compare the names of arguments when a module is used as a protocol."""
    door = importlib.import_module(topic)
    promised = {
        name: list(inspect.signature(f).parameters)[1:]
        for name, f in vars(door.Loops).items()
        if inspect.isfunction(f) and name[0] != "_"
    }
    assert promised
    offered = host_functions(topic, "cpu")
    assert promised == {name: offered.get(name) for name in promised}
    for kind in ("cpu", "cuda"):
        assert door.loops(Device(kind)) is importlib.import_module(f"{topic}.{kind}")
