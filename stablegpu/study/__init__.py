"""The papers' experiments on this machine: `python -m stablegpu study [WHAT ...]`."""

STUDIES = {
    "accuracy": "stablegpu.study.accuracy",
    "random": "stablegpu.study.scatter",
    "rate": "stablegpu.study.rate",
    "map": "stablegpu.study.maps",
    "special": "stablegpu.study.special",
    "fit": "stablegpu.study.fit",
}
