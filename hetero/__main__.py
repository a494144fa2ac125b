"""Show the devices of this machine and what is missing for a GPU; compile ahead."""

from __future__ import annotations

import argparse
import sys

from hetero.command_line import CommandParser, command_parser, print_json, run_command

_EXAMPLES = (
    ("info", "devices, their measured limits, versions, and what is missing for a GPU"),
    ("info --no-limits --json", "the same without measurements, for a program"),
    ("warm", "compile the main calls of all packages, so that no later call waits"),
    ("warm stablegpu --device cpu", "only those of one package, for one device"),
)


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = _make_parser()
    options = parser.parse_args(argv)
    action = _warm if options.command == "warm" else _info
    return run_command(parser.prog, lambda: action(options))


def _make_parser() -> CommandParser:
    """Return the parser; without a command, `info` runs."""
    parser = command_parser("hetero", __doc__ or "", _EXAMPLES)
    _add_info_options(parser, default=False)
    commands = parser.add_subparsers(dest="command", metavar="info|warm")
    text = "show devices, their measured limits, versions, and what is missing for a GPU"
    info = commands.add_parser("info", help=text, description=text)
    _add_info_options(info, default=argparse.SUPPRESS)  # those before the command count, too
    text = "compile the code of the main calls of packages"
    warm = commands.add_parser("warm", help=text, description=text)
    warm.add_argument("packages", nargs="*", metavar="PACKAGE", help="default: all packages")
    warm.add_argument("--device", default="auto", help="auto (a GPU if usable), cpu, cuda:1")
    _add_json(warm, default=argparse.SUPPRESS)
    return parser


def _add_info_options(parser: argparse.ArgumentParser, default: object) -> None:
    """Add the options of `info`."""
    _add_json(parser, default)
    parser.add_argument(
        "--refresh", action="store_true", default=default, help="measure the limits again"
    )
    parser.add_argument(
        "--no-limits", action="store_true", default=default, help="do not measure anything"
    )


def _add_json(parser: argparse.ArgumentParser, default: object) -> None:
    """Add --json."""
    parser.add_argument(
        "--json", action="store_true", default=default, help="print one JSON object instead"
    )


def _warm(options: argparse.Namespace) -> int:
    """Compile ahead, and print how long each call took."""
    from hetero.command_line.compile_ahead import packages, warm
    from hetero.compile_cache.store import root
    from hetero.devices import resolve
    from hetero.validation import check_choice

    choices = tuple(packages())
    names = [check_choice("PACKAGE", name, choices) for name in options.packages] or choices
    device = resolve(options.device, work=1, break_even=0)
    calls = warm(names, device)
    if options.json:
        keys = ("call", "seconds", "compiled")
        rows = [dict(zip(keys, call, strict=True)) for call in calls]
        print_json({"device": device, "folder": root(), "calls": rows})
        return 0
    for title, seconds, compiled in calls:
        print(f"{title:<28} {seconds:6.1f} s, {compiled} functions compiled")
    print(f"{device}: compiled code is in {root()}")
    return 0


def _info(options: argparse.Namespace) -> int:
    """Print devices, limits and versions of this machine, or a JSON object of them."""
    from hetero import available
    from hetero.cuda import driver
    from hetero.measurement.environment import facts
    from hetero.measurement.machine_limits import limits
    from hetero.version import VERSION

    report = facts()
    measured = (
        []
        if options.no_limits
        else [limits(device, refresh=options.refresh) for device in available()]
    )
    problem = driver.why_unavailable()
    if options.json:
        report["version"] = VERSION
        report["limits"] = [m.as_dict() for m in measured]
        report["gpu_problem"] = problem and {"cause": problem[0], "remedy": problem[1]}
        print_json(report)
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
