"""The measurements of Riesinger (2017, chapter 16) on this machine: `python -m lbm study`."""

STUDIES = {
    "blocks": "lbm.study.blocks",
    "hybrid": "lbm.study.hybrid",
    "stability": "lbm.study.stability",
    "strong": "lbm.study.strong",
    "weak": "lbm.study.weak",
}
"""Modules of the studies, by the names that the command line takes."""
