"""The experiments of Fortin, Gouicem and Graillat (2016): `python -m tmd study [WHAT ...]`."""

STUDIES = {
    "divergence": "tmd.study.divergence",
    "phases": "tmd.study.phases",
    "tests": "tmd.study.rates",
}
