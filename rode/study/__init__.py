"""The experiments of (Riesinger 2017) on this machine: `python -m rode study [WHAT ...]`."""

STUDIES = {
    "quality": "rode.study.normality",
    "normals": "rode.study.normals",
    "paths": "rode.study.paths",
    "solver": "rode.study.solver",
    "variance": "rode.study.variance",
}
