"""The papers' experiments on this machine: `python -m stablegpu study [WHAT ...]`."""

from __future__ import annotations

import importlib

STUDIES = {
    "accuracy": "stablegpu.study.accuracy",
    "random": "stablegpu.study.scatter",
    "rate": "stablegpu.study.rate",
    "map": "stablegpu.study.maps",
    "special": "stablegpu.study.special",
    "fit": "stablegpu.study.fit",
}


def run(names, study) -> list:
    """Run studies by name; the paths of their JSON files."""
    paths = []
    for name in names:
        found = importlib.import_module(STUDIES[name]).run(study)
        paths.append(study.write(name, found))
    return paths
