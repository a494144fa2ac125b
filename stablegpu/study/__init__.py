"""The papers' experiments on this machine: `python -m stablegpu study [WHAT ...]`."""

STUDIES = {
    "accuracy": "stablegpu.study.accuracy",
    "random": "stablegpu.study.random_points",
    "rate": "stablegpu.study.rates",
    "map": "stablegpu.study.error_maps",
    "special": "stablegpu.study.special_functions",
    "fit": "stablegpu.study.fits",
}
