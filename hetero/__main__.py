"""`python -m hetero`: show the devices, what they can do, and what is missing for a GPU.

`python -m hetero warm [PACKAGE ...]` compiles the code of the main calls of packages, for images of
containers, clusters and continuous integration.
"""

from __future__ import annotations

import argparse
import json
import sys

from hetero.command_line import command_parser, run_command


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = command_parser("hetero", __doc__ or "")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.add_argument("--refresh", action="store_true", help="measure the limits again")
    parser.add_argument("--no-limits", action="store_true", help="do not measure anything")
    commands = parser.add_subparsers(dest="command", metavar="warm")
    warm = commands.add_parser("warm", help="compile the code of the main calls of packages")
    warm.add_argument("packages", nargs="*", metavar="PACKAGE", help="default: all packages")
    warm.add_argument("--device", default="auto", help="auto (a GPU if usable), cpu, cuda:1")
    options = parser.parse_args(argv)
    action = _warm if options.command == "warm" else _report
    return run_command(parser.prog, lambda: action(options))


def _warm(options: argparse.Namespace) -> int:
    """Compile ahead, and print how long each call took."""
    from hetero.compile_cache.folder import root
    from hetero.compile_cache.warm_up import packages, warm
    from hetero.devices import resolve
    from hetero.validation import check_choice

    choices = tuple(packages())
    names = [check_choice("PACKAGE", name, choices) for name in options.packages] or choices
    device = resolve(options.device, work=1, break_even=0)
    for title, seconds, compiled in warm(names, device):
        print(f"{title:<28} {seconds:6.1f} s, {compiled} functions compiled")
    print(f"{device}: compiled code is in {root()}")
    return 0


def _report(options: argparse.Namespace) -> int:
    """Print devices, limits and versions of this machine, or a JSON object of them."""
    from hetero import available
    from hetero.cuda import driver
    from hetero.measurement.environment import facts
    from hetero.measurement.machine_limits import limits

    report = facts()
    measured = (
        []
        if options.no_limits
        else [limits(device, refresh=options.refresh) for device in available()]
    )
    problem = driver.why_unavailable()
    if options.json:
        report["limits"] = [m.as_dict() for m in measured]
        report["gpu_problem"] = problem and {"cause": problem[0], "remedy": problem[1]}
        print(json.dumps(report, indent=1))
        return 0
    _print_tables(report, measured, problem)
    return 0


def _print_tables(report: dict, measured: list, problem: tuple[str, str] | None) -> None:
    """Print devices, measured limits and versions as tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table("device", "description", title="Devices", title_justify="left")
    table.add_row("cpu", f"{report['cpu']}, {report['cores']} cores, {report['threads']} threads")
    for index, gpu in enumerate(report["gpus"]):
        details = ", ".join(f"{k} {v}" for k, v in gpu.items() if k != "name" and v is not None)
        table.add_row(f"cuda:{index}", f"{gpu['name']}: {details}" if details else gpu["name"])
    console.print(table)
    if measured:
        table = Table("limit (measured)", *(m.device for m in measured))
        for row in zip(*(m.rows() for m in measured), strict=True):
            table.add_row(row[0][0], *(figure for _, figure in row))
        console.print(table)
    console.print("Versions: " + ", ".join(f"{k} {v}" for k, v in report["versions"].items()))
    if problem is None:
        console.print("GPU: usable.")
    else:
        console.print(f"GPU: none usable: {problem[0]}.\n  To use one: {problem[1]}.", markup=False)


if __name__ == "__main__":
    sys.exit(main())
