"""Modules that moved are found under their old names, with a warning."""

import importlib
import sys

import pytest

OLD_AND_NEW = {
    "stablegpu.density": "stablegpu.evaluators",
    "rode.montecarlo": "rode.solving",
    "lbm.cases": "lbm.flows",
    "sbth.reduction": "sbth.tridiagonalization",
    "tmd.certificate": "tmd.certificates",
    "hetero.bench": "hetero.measurement.benchmarking",
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
