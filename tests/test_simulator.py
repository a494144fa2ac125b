"""Kernels in Numba's CUDA simulator, which must be chosen before Numba is imported."""

import os
import re
import subprocess
import sys

import pytest

from hetero.cuda.driver import SIMULATOR


@pytest.mark.timeout(1200)  # one thread after the other, and code for the CPU compiled anew
@pytest.mark.skipif(SIMULATOR, reason="this is the simulator")
def test_kernels_in_the_simulator(request):
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "HETERO_SIMULATED": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-m", "simulator", "-k", "cuda", "tests"]
    run = subprocess.run(
        command, cwd=request.config.rootpath, env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    assert int(re.search(r"(\d+) passed", run.stdout).group(1)) >= 10
    assert "skipped" not in run.stdout.splitlines()[-1]
