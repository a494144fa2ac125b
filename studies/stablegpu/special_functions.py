"""log_ndtr and the logarithm of ndtr against ball arithmetic, in units in the last place."""

from __future__ import annotations

import numpy as np

from stablegpu.special import functions as special
from studies.stablegpu import special_error
from studies.study import Study

ENDS = {"float64": (-40.0, 38.5), "float32": (-40.0, 14.2)}


def run(study: Study) -> dict:
    """Draw the figure, and return the largest error of each type."""
    points = 60 if study.quick else 4000
    study.out.mkdir(parents=True, exist_ok=True)
    special_error.draw(study.out / "log-ndtr.png", points, study.device)
    result: dict[str, dict[str, float]] = {}
    for dtype, ends in ENDS.items():
        x = np.random.default_rng(3).uniform(*ends, points).astype(dtype)
        errors = np.abs(
            special_error.ulps(special.log_ndtr(x, device=study.device), special_error.reference(x))
        )
        result[dtype] = {"points": points, "max_ulp": float(errors.max())}
        result[dtype] |= {"rms_ulp": float(np.sqrt(np.mean(errors**2)))}
    rows = [[name, *row.values()] for name, row in result.items()]
    study.table("log_ndtr at random points", ("type", "points", "max ulp", "rms ulp"), rows)
    return result
