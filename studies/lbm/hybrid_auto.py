"""What `ratio="auto"` takes, and its rate over that of the GPU alone, in ten domains."""

from __future__ import annotations

from dataclasses import replace

import hetero
from hetero.errors import DeviceUnavailableError
from lbm._performance.cavity import cavity_problem
from lbm._performance.measurement import measure_machine
from lbm.lattices.precision import PRECISIONS
from studies.lbm.hybrid import AUTO_HEADS, MORE_DOMAINS, TABLE_SHAPE, measure_auto
from studies.lbm.rates import DOMAINS
from studies.study import Study


def run(study: Study) -> dict:
    """Let `ratio="auto"` choose in each domain and precision, and measure what it has chosen.

    A GPU has an even share of the cores.
    """
    if study.device.kind != "cuda":
        raise DeviceUnavailableError(
            str(study.device), "this study needs a CPU beside a GPU", "pass --device cuda"
        )
    gpus = sum(device.kind == "cuda" for device in hetero.available())
    shapes = ((20, 16, 8),) if study.quick else (*MORE_DOMAINS, *DOMAINS)
    with hetero.use_threads(max(1, hetero.threads() // gpus)):
        problem = cavity_problem(shapes[0] if study.quick else TABLE_SHAPE)
        machines = {
            name: measure_machine(replace(problem, precision=PRECISIONS[name]), [study.device],
                                  links=False)
            for name in ("float32", "float64")
        }  # fmt: skip
        rows = study.table("What ratio='auto' takes", AUTO_HEADS,
                           measure_auto(study, machines, shapes))  # fmt: skip
    return {"least rate by auto over that of the GPU": min(row[-1] for row in rows)}
