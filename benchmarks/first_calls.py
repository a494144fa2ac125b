"""Time of a first call in a fresh process, with no compiled code and with all of it on disk.

The environment variable FIRST_CALLS_TREE may name another checkout, for a comparison with an older
state. Its calls are then measured in turns with those of this one; it needs the files
`*/warm_up.py`.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import hetero
from benchmarks.measurements import Measurement
from hetero.command_line.compile_ahead import packages

_CODE = """
import time
start = time.perf_counter()
import importlib
importlib.import_module({module!r}).CALLS[{name!r}]({device!r})
print(time.perf_counter() - start)
"""

_THIS_TREE = Path(__file__).parents[1]


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure the main calls of all packages."""
    other = os.environ.get("FIRST_CALLS_TREE")
    measurements = []
    for package in ["stablegpu"] if quick else packages():
        module = f"{package}.warm_up"
        for name in list(__import__(module, fromlist=["CALLS"]).CALLS)[: 1 if quick else None]:
            cold, warm = _seconds(_THIS_TREE, module, name, device)
            old = _seconds(Path(other), module, name, device, repeats=1) if other else None
            for state, value, index in (("nothing", cold, 0), ("everything", warm, 1)):
                peers = {} if old is None else {"before": old[index]}
                measurements.append(
                    Measurement(
                        f"{package}.{name}, {state} on disk",
                        value,
                        "s",
                        peers=peers,
                        note="imports in; a fresh process; the median of three if on disk",
                    )
                )
    return measurements


def _seconds(
    tree: Path, module: str, name: str, device: hetero.Device, repeats: int = 3
) -> tuple[float, float]:
    """Return the seconds of a call with nothing on disk, and with everything."""
    code = _CODE.format(module=module, name=name, device=str(device))
    with tempfile.TemporaryDirectory() as cache:
        caches = {"HETERO_CACHE": "1", "HETERO_CACHE_DIR": cache, "NUMBA_CACHE_DIR": cache}
        environment = os.environ | caches | {"PYTHONPATH": _path(tree)}
        times = [_run_once(code, tree, environment) for _ in range(1 + repeats)]
    return times[0], statistics.median(times[1:])


def _run_once(code: str, tree: Path, environment: dict[str, str]) -> float:
    """Return the seconds that a fresh process prints; raise RuntimeError with its last words."""
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tree, env=environment, capture_output=True, text=True
    )
    if run.returncode:
        raise RuntimeError(run.stderr[-2000:])
    return float(run.stdout)


def _path(tree: Path) -> str:
    return os.pathsep.join([str(tree), *filter(None, [os.environ.get("PYTHONPATH")])])
