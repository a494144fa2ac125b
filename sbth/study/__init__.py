"""The experiments of Riesinger (2017) on this machine: `python -m sbth study [WHAT ...]`."""

STUDIES = {
    "operations": "sbth.study.operations",
    "pipeline": "sbth.study.pipeline",
    "comparison": "sbth.study.comparison",
}
