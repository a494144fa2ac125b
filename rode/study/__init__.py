"""The paper's experiments on this machine: `python -m rode study [WHAT ...]`."""

from __future__ import annotations

import importlib

STUDIES = {
    "quality": "rode.study.quality",
    "normals": "rode.study.normals",
    "paths": "rode.study.paths",
    "solver": "rode.study.solver",
}


def run(names, study) -> list:
    """Run studies by name; the paths of their JSON files."""
    paths = []
    for name in names:
        found = importlib.import_module(STUDIES[name]).run(study)
        paths.append(study.write(name, found))
    return paths
