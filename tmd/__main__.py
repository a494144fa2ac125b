"""`python -m tmd search|verify|check|study`: find hard-to-round cases, check libraries on them."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from hetero import validation
from hetero.atomic_files import replace_atomically
from hetero.command_line import command_parser, run_command
from hetero.measurement.studies import add_arguments, run_chosen
from tmd.study import STUDIES


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = _make_parser()
    options = parser.parse_args(argv)
    return run_command(parser.prog, lambda: options.run(options))


def _make_parser() -> argparse.ArgumentParser:
    """Return the parser; `run` of its results is the function for the subcommand."""
    parser = command_parser("tmd", __doc__)
    subcommands = parser.add_subparsers(required=True, metavar="search|verify|check|study")

    search = subcommands.add_parser("search", help="find all hard cases in a domain")
    _add_question(search)
    search.add_argument("--bits", type=int, default=45, help="distance 2^-BITS ulp (default 45)")
    search.add_argument(
        "--precision", type=int, default=53, help="binary digits of the values (default 53)"
    )
    search.add_argument(
        "--argument-precision", type=int, help="digits of the arguments (default: --precision)"
    )
    search.add_argument(
        "--rounding",
        default="all",
        choices=["all", "nearest", "directed"],
        help="rounding modes whose breakpoints count (default all)",
    )
    search.add_argument(
        "--algorithm", default="auto", help="Boolean test, or exhaustive (default auto)"
    )
    search.add_argument(
        "--division", default="reciprocal", help="division in Boolean tests (default reciprocal)"
    )
    search.add_argument(
        "--checkpoint", type=Path, help="file of finished blocks, to continue a search"
    )
    search.add_argument("--out", type=Path, help=".wc file of arguments (default: standard output)")
    search.add_argument("--certificate", type=Path, help="JSON file to write the certificate to")
    search.set_defaults(run=_search)

    verify = subcommands.add_parser("verify", help="verify a certificate")
    verify.add_argument("certificate", type=Path, help="JSON file, or .jsonl.xz file with several")
    verify.add_argument("--full", action="store_true", help="search every block again")
    verify.add_argument(
        "--samples",
        type=int,
        default=3,
        help="number of blocks to search again, and of windows in each (default 3; 0 for none)",
    )
    verify.add_argument("--cases", type=Path, help=".wc file that must hold exactly the cases")
    verify.add_argument("--device", help="auto, cpu, cuda or cuda:1")
    verify.set_defaults(run=_verify)

    check = subcommands.add_parser(
        "check", help="count the hard cases that libraries round wrongly"
    )
    _add_question(check)
    check.add_argument("--bits", type=int, default=40, help="distance 2^-BITS ulp (default 40)")
    check.add_argument(
        "--count", type=int, default=1000, help="number of hardest cases to try (default 1000)"
    )
    check.add_argument("--library", action="append", default=[], help="path of a C library")
    check.set_defaults(run=_check)

    study = subcommands.add_parser("study", help="repeat published tables on this machine")
    add_arguments(study, STUDIES)
    study.set_defaults(run=_study)
    return parser


def _add_question(parser: argparse.ArgumentParser) -> None:
    """Add the function, the domain and the options that `search` and `check` share."""
    parser.add_argument("function", help="exp, exp2, log, log2, sin, cos or tan")
    help_lo = (
        'start of the domain, for instance 1, 0x1.8p+3 or "2**-20"; write -0x1p+3 and "-2**-20" '
        'after all options and "--"'
    )
    parser.add_argument("lo", help=help_lo)
    parser.add_argument("hi", help="end of the domain, which does not belong to it")
    parser.add_argument("--device", help="auto, cpu, cuda or cuda:1")
    parser.add_argument("--quiet", action="store_true", help="do not show a progress bar")


def _search(options: argparse.Namespace) -> int:
    """Search a domain; write its cases to files, or print them, and report their number."""
    import tmd

    _require_folder("--out", options.out)
    _require_folder("--certificate", options.certificate)
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
        with replace_atomically(options.certificate) as part:
            part.write_text(json.dumps(result.certificate) + "\n")
    if options.out:
        result.write(options.out)
    else:
        for line in result.lines():
            print(line)
    print(f"{len(result.cases)} cases, hardness {result.hardness}", file=sys.stderr)
    for x in result.undecided:
        print(f"undecided: {x}", file=sys.stderr)
    return 0


def _require_folder(option: str, path: Path | None) -> None:
    """Raise ValueError, before a search of hours, if its result could not be written."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise ValueError(f"{option} must be a file in an existing folder, got {str(path)!r}")


def _verify(options: argparse.Namespace) -> int:
    """Verify certificates, or a list of cases by them, and print what was verified."""
    import tmd
    from tmd.certificates import read_certificates, verify_cases

    minimum = 0 if options.full or options.cases else 1
    samples = validation.check_integer("--samples", options.samples, minimum)
    certificates = read_certificates(options.certificate)
    if options.cases:
        count = verify_cases(certificates, options.cases)
        print(f"{options.cases}: {count} cases, exactly those that are certified", flush=True)
    if not samples and not options.full:
        print("no block was searched again: --samples 0")
        return 0
    for c in certificates:
        report = tmd.verify(c, full=options.full, samples=samples, device=options.device)
        print(f"{c['function']} on [{', '.join(c['domain'])}): {_summarize(report)}", flush=True)
    return 0


def _summarize(report: dict) -> str:
    """Describe what was searched again, and whether that was everything."""
    blocks, total = report["blocks"], report["certified_blocks"]
    sample = "" if blocks == total else " (a sample; --full takes all)"
    return (
        f"verified {blocks} of {total} blocks{sample}, {report['windows']} windows, "
        f"{report['arguments']} arguments, {report['cases']} cases"
    )


def _check(options: argparse.Namespace) -> int:
    """Compare libraries on the hard cases of a domain and print their scores."""
    import tmd
    from tmd.library_check import check_libraries, load_libraries

    load_libraries(options.library)  # reports a wrong path before the search
    result = tmd.search(
        options.function,
        (options.lo, options.hi),
        bits=options.bits,
        progress=not options.quiet,
        device=options.device,
    )
    arguments = [c.argument for c in result.cases.hardest(options.count)]
    for score in check_libraries(options.function, arguments, options.library):
        print(f"{score.library}: {len(score.wrong)} of {score.tried} wrong")
        for x, returned, y in score.wrong[:20]:
            print(f"  {options.function}({x.hex()}) = {returned.hex()}, correct is {y.hex()}")
    return 0


def _study(options: argparse.Namespace) -> int:
    return run_chosen(options, STUDIES)


if __name__ == "__main__":
    sys.exit(main())
