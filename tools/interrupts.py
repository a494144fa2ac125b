"""Press Ctrl-C at random times of first calls, and call again: every second call must be right.

    python tools/interrupts.py [--tries N] [--jobs N] [--call NAME ...] [--seed N] [--json FILE]

Each try is a process of its own. Its cache of compiled code is empty, so the call imports Numba and
compiles. The exit status is 1 if a second call failed or was wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "tests" / "support" / "cold_call.py"
sys.path[:0] = [str(ROOT), str(SCRIPT.parent)]

from cold_call import FIRST_CALLS  # noqa: E402
from hetero import facts  # noqa: E402


def try_once(name: str, seconds: float) -> str:
    """Return what a process printed whose first call got Ctrl-C after so many seconds."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"HETERO_CACHE_DIR": cache, "PYTHONPATH": str(ROOT)}
        process = subprocess.run(
            [sys.executable, str(SCRIPT), str(seconds), name],
            env=environment, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
    return process.stdout.strip() or f"died with status {process.returncode}: {process.stderr}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tries", type=int, default=60, help="number of processes")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--call", nargs="+", choices=FIRST_CALLS, default=list(FIRST_CALLS))
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--json", type=Path, help="file for the record")
    arguments = parser.parse_args()
    choice, counts, start = random.Random(arguments.seed), Counter[str](), time.monotonic()
    faults = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        whole = pool.map(lambda name: try_once(name, 1e6), arguments.call)
        durations = {n: float(s.split()[-1]) for n, s in zip(arguments.call, whole, strict=True)}
        names = [choice.choice(arguments.call) for _ in range(arguments.tries)]
        times = [choice.uniform(0.0, durations[name]) for name in names]
        answers = list(pool.map(try_once, names, times))
    for name, seconds, said in zip(names, times, answers, strict=True):
        outcome = " ".join(said.split()[:2])
        counts[outcome] += 1
        if outcome not in ("interrupted right", "finished right"):
            faults.append(f"{name}, Ctrl-C after {seconds:.3f} s: {said}")
            print(faults[-1], flush=True)
    print(", ".join(f"{outcome}: {count}" for outcome, count in sorted(counts.items())))
    if arguments.json is not None:
        record = {
            "command": f"python tools/interrupts.py --tries {arguments.tries}",
            "facts": facts(),
            "seconds": round(time.monotonic() - start),
            "outcomes": dict(sorted(counts.items())),
            "faults": faults,
        }
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")
    return bool(faults)


if __name__ == "__main__":
    raise SystemExit(main())
