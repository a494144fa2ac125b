"""The measurements of Riesinger (2017, chapter 16) on this machine: `python -m lbm study`."""

STUDIES = {
    "blocks": "lbm.study.blocks",
    "shares": "lbm.study.cpu_shares",
    "stability": "lbm.study.stability",
}
"""Modules of the studies, by the names that the command line takes."""
