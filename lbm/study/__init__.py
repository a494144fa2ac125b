"""The thesis's measurements on this machine: `python -m lbm study`."""

STUDIES = {
    "blocks": "lbm.study.blocks",
    "shares": "lbm.study.shares",
    "stability": "lbm.study.stability",
}
