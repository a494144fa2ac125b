"""Edit random modules at random, and compare results with and without compiled code on disk.

    python tools/cache_campaign.py --edits 10000 --workers 8 --json record.json

Half of the edits are of modules of a user, which are compared by value only, the others of a
package with intrinsics, where what is compiled without need is counted, too.
Exit status 0: no process has loaded stale code. A failure prints the seed, the modules and what the
process did with them.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support"), str(ROOT / "tools" / "edits")]

from edit_campaign import StaleCodeError, run_campaign  # noqa: E402
from fork_server import ForkServer  # noqa: E402
from hetero import facts  # noqa: E402
from package_campaign import run_package_campaign  # noqa: E402


def run_one(edits: int, seed: int, until: float) -> Counter:
    """Run a campaign in a folder and with processes of its own."""
    with tempfile.TemporaryDirectory() as folder:
        server = ForkServer(Path(folder))
        try:
            (Path(folder) / "package").mkdir()
            counts = run_campaign(server, Path(folder), edits - edits // 2, seed, until)
            return counts + run_package_campaign(
                server, Path(folder) / "package", edits // 2, seed, until
            )
        finally:
            server.close()


def main() -> int:
    """Run the campaign; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edits", type=int, default=1000, help="number of edits in all")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=1, help="of the first worker")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no edit after this")
    parser.add_argument("--json", type=Path, help="file for the record")
    options = parser.parse_args()
    start = time.perf_counter()
    shares = [options.edits // options.workers] * options.workers
    shares[0] += options.edits - sum(shares)
    seeds = range(options.seed, options.seed + options.workers)
    with ThreadPoolExecutor(options.workers) as pool:  # the work is done by other processes
        try:
            until = [time.monotonic() + options.seconds] * options.workers
            counts = sum(pool.map(run_one, shares, seeds, until), Counter())
        except StaleCodeError as error:
            print(error)
            return 1
    record = {
        "command": "python tools/cache_campaign.py " + " ".join(sys.argv[1:]),
        "seconds": round(time.perf_counter() - start),
        "seeds": [seeds[0], seeds[-1]],
        **counts,
        "stale": 0,
        "facts": facts(),
    }
    print(
        f"{counts['edits']} edits: {counts['hits']} runs loaded {counts['functions']} functions "
        f"from disk, {counts['errors']} could not be compiled, no stale code; in the package "
        f"{counts['needless']} of {counts['unchanged']} functions that an edit left as they were "
        "were compiled again"
    )
    if options.json:
        options.json.write_text(json.dumps(record, indent=1, default=str) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
