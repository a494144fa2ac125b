"""Kernels in Numba's CUDA simulator, which must be chosen before Numba is imported."""

import os
import re
import subprocess
import sys

import pytest


@pytest.mark.timeout(1200)  # in a cold run, code for the CPU is compiled, too
def test_kernels_in_the_simulator(request):
    root = request.config.rootpath
    files = [
        path.relative_to(root)
        for path in sorted((root / "tests").glob("*/test_*.py"))
        if "mark.simulator" in path.read_text()
    ]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "simulator", "-k", "cuda", *files], cwd=root,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    assert int(re.search(r"(\d+) passed", run.stdout).group(1)) >= 10
    assert "skipped" not in run.stdout.splitlines()[-1]
