"""The paper's experiments on this machine: `python -m tmd study [WHAT ...]`."""

STUDIES = {
    "divergence": "tmd.study.divergence",
    "phases": "tmd.study.phases",
    "tests": "tmd.study.rates",
}
