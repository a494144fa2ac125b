"""`python -m tmd search|verify|check|study`: hard-to-round cases, and who fails them."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from hetero import errors
from hetero.command_line import command_parser, guarded
from hetero.study import add_arguments, run_chosen
from tmd.study import STUDIES


def main(argv: list[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(argv)
    return guarded(parser.prog, lambda: options.run(options))


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("tmd", __doc__)
    verbs = parser.add_subparsers(required=True, metavar="search|verify|check|study")

    search = verbs.add_parser("search", help="find the hard cases in a domain")
    _question(search)
    search.add_argument("--bits", type=int, default=45, help="distance 2^-BITS ulp (default 45)")
    search.add_argument("--precision", type=int, default=53)
    search.add_argument("--argument-precision", type=int)
    search.add_argument("--rounding", default="all", choices=["all", "nearest", "directed"])
    search.add_argument("--algorithm", default="auto")
    search.add_argument("--division", default="reciprocal")
    search.add_argument("--checkpoint", type=Path, help="file of done blocks, to go on from")
    search.add_argument("--out", type=Path, help=".wc file of arguments (default: standard output)")
    search.add_argument("--certificate", type=Path, help="JSON file")
    search.set_defaults(run=_search)

    verify = verbs.add_parser("verify", help="check a certificate")
    verify.add_argument("certificate", type=Path, help="JSON file, or .jsonl.xz of many")
    verify.add_argument("--full", action="store_true", help="search every block again")
    verify.add_argument(
        "--samples", type=int, default=3, help="blocks, and windows in each; 0 with --cases: none"
    )
    verify.add_argument("--cases", type=Path, help=".wc file that must hold exactly the cases")
    verify.add_argument("--device")
    verify.set_defaults(run=_verify)

    check = verbs.add_parser("check", help="hard cases that libraries round wrongly")
    _question(check)
    check.add_argument("--bits", type=int, default=40)
    check.add_argument("--count", type=int, default=1000, help="hardest cases that are tried")
    check.add_argument("--library", action="append", default=[], help="path of a C library")
    check.set_defaults(run=_check)

    study = verbs.add_parser("study", help="the paper's tables and figures on this machine")
    add_arguments(study, STUDIES)
    study.set_defaults(run=_study)
    return parser


def _question(parser) -> None:
    parser.add_argument("function")
    help_lo = 'say 1, 0x1.8p+3 or "2**-20"; -0x1p+3 and "-2**-20" after all options and "--"'
    parser.add_argument("lo", help=help_lo)
    parser.add_argument("hi")
    parser.add_argument("--device")
    parser.add_argument("--quiet", action="store_true", help="no bar")


def _search(options) -> int:
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
        device=options.device,
        checkpoint=options.checkpoint,
        progress=not options.quiet,
    )
    if options.certificate:
        options.certificate.write_text(json.dumps(result.certificate) + "\n")
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
    """Say before a search of hours that its result cannot be written."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise ValueError(f"{option} must be a file in an existing folder, got {str(path)!r}")


def _verify(options) -> int:
    import tmd
    from tmd.certificate import read, verify_cases

    least = 0 if options.full or options.cases else 1
    samples = errors.whole("--samples", options.samples, least)
    certificates = read(options.certificate)
    if options.cases:
        count = verify_cases(certificates, options.cases)
        print(f"{options.cases}: {count} cases, exactly those that are certified", flush=True)
    if not samples and not options.full:
        print("no block was searched again: --samples 0")
        return 0
    for c in certificates:
        report = tmd.verify(c, full=options.full, samples=samples, device=options.device)
        print(f"{c['function']} on [{', '.join(c['domain'])}): {_in_words(report)}", flush=True)
    return 0


def _in_words(report: dict) -> str:
    """Say what was searched again, and whether that was all."""
    blocks, total = report["blocks"], report["certified_blocks"]
    sample = "" if blocks == total else " (a sample; --full takes all)"
    return (
        f"{blocks} of {total} blocks{sample}, {report['windows']} windows, "
        f"{report['arguments']} arguments, {report['cases']} cases searched again: as certified"
    )


def _check(options) -> int:
    import tmd
    from tmd.check import check, libraries

    libraries(options.library)  # a wrong path is found out before the search
    result = tmd.search(
        options.function,
        (options.lo, options.hi),
        bits=options.bits,
        device=options.device,
        progress=not options.quiet,
    )
    arguments = [c.argument for c in result.cases.hardest(options.count)]
    for score in check(options.function, arguments, options.library):
        print(f"{score.library}: {len(score.wrong)} of {score.tried} wrong")
        for x, got, y in score.wrong[:20]:
            print(f"  {options.function}({x.hex()}) = {got.hex()}, correct is {y.hex()}")
    return 0


def _study(options) -> int:
    return run_chosen(options, STUDIES)


if __name__ == "__main__":
    sys.exit(main())
