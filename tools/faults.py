"""Call every public function with odd arguments, one at a time, and list what goes wrong.

    python tools/faults.py [--package P ...] [--call TEXT] [--limit SECONDS] [--jobs N]
                           [--log FILE] [--json FILE]

A call may succeed, or raise an error that names the argument. Each package runs in a process of its
own with a limit of memory; when that ends or hangs, the case is listed and another process goes on
behind it. The exit status is 1 if anything was found. `--json` writes a record, in which packages
that do not run now keep their results. `docs/reliability.md` has the last results.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from faults.campaign import PACKAGES, calls_of  # noqa: E402
from faults.judge import Call, verdict, verdict_on_good_arguments  # noqa: E402
from hetero import facts  # noqa: E402

MEMORY = 8 << 30
"""Address space of a process in bytes: a request for more raises MemoryError."""


def main() -> int:
    arguments = _parse()
    if arguments.worker:
        return work(arguments)
    with ThreadPoolExecutor(arguments.jobs) as pool:  # the work is done by other processes
        results = list(pool.map(lambda name: supervise(name, arguments), arguments.package))
    if arguments.json is not None:
        write_record(arguments.json, dict(zip(arguments.package, results, strict=True)))
    found = sum(len(result["faults"]) for result in results)
    print(f"{found} cases to look at" if found else "nothing to look at")
    return bool(found)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--package", nargs="+", choices=PACKAGES, default=PACKAGES)
    parser.add_argument("--call", default="", help="only calls whose name contains this text")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for one call")
    parser.add_argument("--jobs", type=int, default=1, help="packages at a time")
    parser.add_argument("--json", type=Path, help="file for the record")
    parser.add_argument("--log", type=Path, help="file for a line of JSON about each case")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--skip", type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args()


def supervise(package: str, arguments: argparse.Namespace) -> dict:
    """Run the cases of a package in processes until all are done.

    Returns
    -------
    dict
        number of cases, seconds, limit of one call in seconds, and the list of faults
    """
    start, done, faults = time.perf_counter(), 0, []
    while True:
        command = [sys.executable, __file__, "--worker", "--package", package, "--skip", str(done),
                   "--call", arguments.call, "--limit", str(arguments.limit)]  # fmt: skip
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
            worker = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=folder
            )
            assert worker.stdout is not None
            begun = None
            for line in worker.stdout:
                record = json.loads(line)
                if "fault" not in record:
                    begun = record
                    continue
                begun, done = None, done + 1
                faults += _report(record, arguments.log)
            status = worker.wait()
            errors.seek(0)
            last_words = errors.read()[-2000:]
        if status == 0:
            break
        if begun is None:
            raise SystemExit(f"a worker for {package} ended with status {status}:\n{last_words}")
        done += 1
        fault = {"fault": f"ends the process with status {status}"}
        faults += _report(begun | fault, arguments.log)
    seconds = round(time.perf_counter() - start)
    print(f"{package}: {done} cases in {seconds} s, {len(faults)} to look at", flush=True)
    return {"cases": done, "seconds": seconds, "limit": arguments.limit, "faults": faults}


def _report(record: dict, log: Path | None) -> list[str]:
    """Print a case with a fault, write it to the log, and return a list of its fault, if any."""
    if log is not None:
        with log.open("a") as file:
            file.write(json.dumps(record) + "\n")
    if record["fault"] is None:
        return []
    line = f"{record['call']}({record['argument']}= {record['odd']}): {record['fault']}"
    print(line, flush=True)
    return [line]


def write_record(path: Path, results: dict[str, dict]) -> None:
    """Write the results of packages to a record, which keeps those of others."""
    machine = facts()
    results = {name: result | {"commit": machine["commit"]} for name, result in results.items()}
    before = json.loads(path.read_text())["packages"] if path.exists() else {}
    record = {
        "command": "python tools/faults.py",
        "facts": machine,
        "packages": dict(sorted((before | results).items())),
    }
    path.write_text(json.dumps(record, indent=1) + "\n")


def work(arguments: argparse.Namespace) -> int:
    """Run the cases behind the first `skip`, and print what begins and what came of it."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.environ.setdefault("MPLBACKEND", "agg")
    report = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the calls print
    selected = (case for case in cases_of(arguments.package[0]) if arguments.call in case[0].name)
    good: dict[str, str | None] = {}
    for number, (call, argument, odd) in enumerate(selected):
        if number < arguments.skip:
            continue
        record = {"call": call.name, "argument": argument, "odd": odd}
        print(json.dumps(record), file=report)
        if call.name not in good:  # compiles, and shows that the good arguments are good
            good[call.name] = verdict_on_good_arguments(call)
        fault = good[call.name] or timed_verdict(call, argument, odd, arguments.limit)
        print(json.dumps(record | {"fault": fault}), file=report)
    return 0


def cases_of(package: str) -> Iterator[tuple[Call, str, str]]:
    """Yield call, argument and odd value of each case of a package."""
    for call in calls_of(package):
        for argument, odd in call.cases():
            yield call, argument, odd


class OutOfTimeError(BaseException):  # so that no `except Exception` takes it for an error
    """A call has taken longer than its limit."""


def timed_verdict(call: Call, argument: str, odd: str, seconds: float) -> str | None:
    """Return the verdict on a case that may take so many seconds.

    A call in compiled code cannot be interrupted: the process ends after five times the limit.
    """
    faulthandler.dump_traceback_later(5.0 * seconds + 60.0, exit=True)
    previous = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return verdict(call, argument, odd)
    except OutOfTimeError:
        return f"takes more than {seconds:g} s"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
        faulthandler.cancel_dump_traceback_later()


def _stop(_signal: int, _frame: object) -> None:
    raise OutOfTimeError


if __name__ == "__main__":
    raise SystemExit(main())
