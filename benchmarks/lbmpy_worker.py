"""lbmpy's D3Q19 steps (TRT, esoteric twist, OpenMP) in a process of their own, on demand.

    python lbmpy_worker.py TARGET N DTYPE      e.g. X86_AVX 128 float32

It writes its name and version when the kernels are compiled. Then, for each line with a number of
steps, it does these and writes the seconds that they have taken, on the wall clock and of all
threads on processors. It imports nothing of this project, since lbmpy may be in another
environment.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import lbmpy
import numpy as np
import pystencils
from lbmpy.advanced_streaming import Timestep

PATTERN, RATE = "esotwist", 1.6  # 1/tau; the speed does not depend on it


def make_steps(target: str, n: int, dtype: np.dtype) -> tuple[Any, list]:
    """Return (data handling, kernels of even and odd steps) of a domain of n^3 cells."""
    data = pystencils.create_data_handling(
        (n, n, n), default_layout="fzyx", default_ghost_layers=1, periodicity=(True,) * 3
    )
    populations = data.add_array("f", values_per_cell=19, dtype=dtype, alignment=64)
    config = pystencils.CreateKernelConfig(
        target=getattr(pystencils.Target, target), default_dtype=dtype
    )
    config.cpu.openmp.enable = True
    config.cpu.vectorize.enable = True
    config.cpu.vectorize.assume_inner_stride_one = True
    kernels = []
    for timestep in (Timestep.EVEN, Timestep.ODD):
        update = lbmpy.create_lb_update_rule(
            lbm_config=lbmpy.LBMConfig(
                stencil=lbmpy.LBStencil(lbmpy.Stencil.D3Q19),
                method=lbmpy.Method.TRT,
                relaxation_rate=RATE,
                compressible=True,
                zero_centered=True,
                streaming_pattern=PATTERN,
                timestep=timestep,
            ),
            lbm_optimisation=lbmpy.LBMOptimisation(symbolic_field=populations, cse_global=True),
        )
        kernels.append(pystencils.create_kernel(update, config).compile())
    data.cpu_arrays["f"][...] = 0.0
    return data, kernels


def main() -> None:
    """Compile, then do the steps that are asked for."""
    target, n, dtype = sys.argv[1:]
    data, kernels = make_steps(target, int(n), np.dtype(dtype))

    def do_steps(count: int) -> tuple[float, float]:
        start = time.perf_counter(), time.process_time()
        for t in range(count):
            data.run_kernel(kernels[t % 2])
        return time.perf_counter() - start[0], time.process_time() - start[1]

    do_steps(2)
    print(f"lbmpy {lbmpy.__version__}", flush=True)
    for line in sys.stdin:
        print(*do_steps(int(line)), flush=True)


if __name__ == "__main__":
    main()
