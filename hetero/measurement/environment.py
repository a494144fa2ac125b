"""Facts about the machine and the software, which are part of every record of a measurement."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

PACKAGES = ("heterokit", "numba", "numba-cuda", "llvmlite", "numpy", "scipy", "cupy-cuda13x")


@functools.cache
def versions() -> Mapping[str, str]:
    """Return the versions of Python and of the packages that matter for speed."""
    names_and_versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            names_and_versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    import numpy

    names_and_versions["numpy"] = numpy.__version__  # the imported one, if two are installed
    return names_and_versions


def gpu_facts(index: int = 0) -> dict:
    """Return name, memory and shape of a usable GPU."""
    from hetero.cuda.driver import SIMULATOR, cuda

    if SIMULATOR:
        return {"name": "Numba's CUDA simulator"}
    gpu = cuda.gpus[index]
    with gpu:
        memory = cuda.current_context().get_memory_info()
        device = cuda.get_current_device()
        return {
            "name": gpu.name.decode() if isinstance(gpu.name, bytes) else str(gpu.name),
            "compute_capability": ".".join(map(str, device.compute_capability)),
            "multiprocessors": int(device.MULTIPROCESSOR_COUNT),
            "clock_MHz": int(device.CLOCK_RATE) // 1000,
            "memory_GiB": round(memory.total / 2**30, 1),
            "driver": _nvidia_driver(),
            "cuda_runtime": ".".join(map(str, cuda.runtime.get_version())),
        }


def _nvidia_driver() -> str | None:
    try:
        text = Path("/proc/driver/nvidia/version").read_text()
        words = text.split()
        return next(w for w in words if w.replace(".", "").isdigit() and "." in w)
    except (OSError, StopIteration):
        pass
    try:
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return None


_RECORDS = "benchmarks/records"
_HERE = Path(__file__).resolve().parent


def commit(folder: Path = _HERE) -> str | None:
    """Return the git commit of a source tree, by default ours; '+' says that it has been edited.

    Records are no sources: one that is written does not make the next one that of edited sources.
    """
    try:
        run = functools.partial(
            subprocess.run, cwd=folder, capture_output=True, text=True, check=True, timeout=10
        )
        name = run(["git", "rev-parse", "--short=12", "HEAD"]).stdout.strip()
        status = ["git", "status", "--porcelain", "-uno", "--", ":/", f":(exclude,top){_RECORDS}"]
        return name + ("+" if run(status).stdout else "")
    except (OSError, subprocess.SubprocessError):
        return None


def facts() -> dict:
    """Return all facts that a reader needs to interpret a record years later."""
    from hetero.cpu.threads import threads
    from hetero.devices import available, cpu_model

    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": platform.platform(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "threads": threads(),
        "gpus": [gpu_facts(d.index) for d in available() if d.kind == "cuda"],
        "versions": dict(versions()),
        "commit": commit(),
    }
