"""Modules and arguments with new names can be used by their old names, with a warning."""

import importlib
import sys

import pytest

from hetero.public_names.moved import renamed_arguments

OLD_AND_NEW = {
    "stablegpu.density": "stablegpu.evaluators",
    "rode.montecarlo": "rode.solving",
    "lbm.cases": "lbm.flows",
    "sbth.reduction": "sbth.tridiagonalization",
    "tmd.certificate": "tmd.certificates",
    "hetero.bench": "hetero.measurement.benchmarking",
    "hetero.figures": "hetero.display.figures",
}


@pytest.mark.parametrize("old", OLD_AND_NEW)
def test_an_old_name_gives_the_module_and_names_the_new_one(old, monkeypatch):
    package, _, name = old.rpartition(".")
    importlib.import_module(package)
    monkeypatch.delitem(sys.modules, old, raising=False)
    with pytest.warns(DeprecationWarning, match=f"{old} is now {OLD_AND_NEW[old]}"):
        module = importlib.import_module(old)
    assert module is importlib.import_module(OLD_AND_NEW[old])
    assert getattr(sys.modules[package], name) is module


def test_other_names_are_not_found():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("stablegpu.nonsense")


@renamed_arguments(seed="rng")
def draw(size, *, rng=None):
    """Return the arguments."""
    return size, rng


def test_an_argument_is_taken_by_its_old_name():
    with pytest.warns(DeprecationWarning, match=r"argument seed of draw\(\) is now rng"):
        assert draw(3, seed=1) == (3, 1)
    assert draw(3, rng=1) == (3, 1)


def test_an_argument_cannot_be_passed_by_both_names():
    with pytest.raises(TypeError, match="both seed and rng"):
        draw(3, seed=1, rng=2)
