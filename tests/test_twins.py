"""Every topic has its loops for both targets, with the same functions and arguments."""

import importlib
import inspect
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("topic", sorted(modules("cpu") & modules("cuda")))
def test_twins_have_the_same_functions(topic):
    def public(kind):
        module = importlib.import_module(f"{topic}.{kind}")
        return {
            name: list(inspect.signature(f).parameters)
            for name, f in vars(module).items()
            if inspect.isfunction(f) and f.__module__ == module.__name__ and name[0] != "_"
        }

    assert public("cpu")
    assert public("cpu") == public("cuda")
