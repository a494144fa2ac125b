"""`tmd search`: all hard-to-round cases in a domain."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hetero import command_line
from hetero.display.notebook import html_table
from hetero.validation import check_output_path
from hetero.version import VERSION

if TYPE_CHECKING:
    from tmd.results import Result

_EXAMPLES = (
    ("exp 1 1.0001 --bits 32", "all cases of exp in [1, 1.0001), in a minute at most"),
    ("exp 1 1.0001 --bits 32 --plot exp.html", "how many there are, and where"),
    ("exp 1 2 --bits 45 --out exp.wc --certificate exp.json", "a binade of doubles, for a GPU"),
)


def add_search(subcommands: Any) -> None:
    """Add the command."""
    text = "find all hard-to-round cases in a domain"
    search = subcommands.add_parser("search", help=text, description=text, examples=_EXAMPLES)
    add_domain(search)
    search.add_argument("--bits", type=int, default=45, help="distance 2^-BITS ulp (default: 45)")
    search.add_argument(
        "--precision",
        type=parse_precision,
        default=53,
        help="format of the values: bfloat16, binary16, binary32, binary64, x87, binary digits, or "
        "DIGITS,EMIN,EMAX (default: 53, which is binary64)",
    )
    search.add_argument(
        "--argument-precision",
        type=parse_precision,
        help="format of the arguments (default: --precision)",
    )
    search.add_argument(
        "--rounding",
        default="all",
        choices=["all", "nearest", "directed"],
        help="rounding modes whose breakpoints count (default: all)",
    )
    search.add_argument(
        "--algorithm", default="auto", help="Boolean test, or exhaustive (default: auto)"
    )
    search.add_argument(
        "--division", default="reciprocal", help="division in Boolean tests (default: reciprocal)"
    )
    search.add_argument(
        "--checkpoint", type=Path, help="file of finished blocks, to continue a search"
    )
    search.add_argument("--out", type=Path, help=".wc file of arguments (default: standard output)")
    search.add_argument("--certificate", type=Path, help="JSON file to write the certificate to")
    command_line.add_plot_option(search, "the cases")
    command_line.add_common_options(search)
    search.set_defaults(run=_run)


def parse_precision(text: str) -> Any:
    """Return digits, the name of a format, or (digits, emin, emax); `Format.create` checks them."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        return text
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def add_domain(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    """Add the function and the domain, which may be optional."""
    from tmd.functions import NAMES

    names = f"{', '.join(NAMES)}, or MODULE:NAME for a tmd.Function of your own"
    parser.add_argument("function", help=names)
    help_lo = (
        'start of the domain, for instance 1, 0x1.8p+3 or "2**-20"; write -0x1p+3 and "-2**-20" '
        'after all options and "--"'
    )
    count = "?" if optional else None
    parser.add_argument("lo", nargs=count, help=help_lo)
    parser.add_argument("hi", nargs=count, help="end of the domain, which does not belong to it")


def _run(options: argparse.Namespace) -> int:
    """Search a domain; write its cases to files, or print them; return the exit code."""
    import tmd
    from hetero.data_files.atomic_files import write_json

    command_line.check_device(options.device)
    for option in ("out", "certificate", "checkpoint"):
        check_output_path(f"--{option}", getattr(options, option))
    files = options.out, options.certificate, options.checkpoint
    command_line.check_outputs(plot=options.plot, others=files)
    result = tmd.search(
        options.function,
        (options.lo, options.hi),
        bits=options.bits,
        precision=options.precision,
        argument_precision=options.argument_precision,
        rounding=options.rounding,
        algorithm=options.algorithm,
        division=options.division,
        checkpoint=options.checkpoint,
        progress=not options.quiet,
        device=options.device,
    )
    if options.certificate:
        command_line.save_output(
            options.certificate, lambda path: write_json(path, result.certificate)
        )
    if options.out:
        command_line.save_output(options.out, result.write)
    if options.plot is not None:
        command_line.save_output(options.plot, lambda path: _draw(result, path))
    if options.json:
        command_line.print_json(_as_dict(result))
    elif not options.out and options.plot is None:
        for line in result.lines():
            print(line)
    print(f"{len(result.cases)} cases, hardness {result.hardness}", file=sys.stderr)
    for x in result.undecided:
        print(f"undecided: {x}", file=sys.stderr)
    return 0 if result.success else command_line.FAILED


def _as_dict(result: Result) -> dict[str, Any]:
    """Return a result as values for JSON; distances are proven bounds in ulps."""
    cases = zip(result.cases, result.cases.distances.tolist(), strict=True)
    return {
        "version": VERSION,
        "function": result.function,
        "domain": result.certificate["domain"],
        "bits": result.bits,
        "precision": result.format.names[0],
        "argument_precision": result.format.names[1],
        "rounding": result.rounding,
        "status": result.status,
        "hardness": result.hardness,
        "arguments": result.cases.searched,
        "cases": [
            {"argument": case.hex, "kind": case.kind, "distance": distance}
            for case, distance in cases
        ],
        "undecided": [str(x) for x in result.undecided],
        "certificate": result.certificate["hash"],
    }


def _draw(result: Result, path: Path) -> None:
    """Write the figure of a search."""
    lo, hi = result.certificate["domain"]
    rows = [
        (case.hex, case.kind, case.identical_bits, f"{case.distance.upper:.4g}")
        for case in result.cases.hardest(10)
    ]
    heads = ("argument", "near", "identical bits", "distance in ulps")
    table = html_table("The hardest cases (F: near a float, M: near a midpoint)", rows, heads)
    title = f"Hard-to-round cases of {result.function} in [{lo}, {hi})"
    command_line.save_figure(result.plot, path, title=title, tables=[table])
