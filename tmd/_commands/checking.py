"""`tmd verify` and `tmd check`: certificates are verified, libraries tried on hard cases."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hetero import validation
from hetero.command_line import add_common_options, check_device, print_json
from hetero.version import VERSION
from tmd._commands.searching import add_domain

_VERIFY_EXAMPLES = (
    ("exp.json", "search some blocks again"),
    ("exp.json --full", "search all of them again"),
    ("exp.json --cases exp.wc --samples 0", "compare a list of cases with its certificate"),
)
_CHECK_EXAMPLES = (
    ("exp 1 1.0625 --library libm.so.6", "NumPy, Python and the C library on 1000 hard cases"),
)


def add_verify(subcommands: Any) -> None:
    """Add the command that verifies certificates."""
    text = "verify a certificate"
    verify = subcommands.add_parser(
        "verify", help=text, description=text, examples=_VERIFY_EXAMPLES
    )
    verify.add_argument("certificate", type=Path, help="JSON file, or .jsonl.xz file with several")
    verify.add_argument("--full", action="store_true", help="search every block again")
    verify.add_argument(
        "--samples",
        type=int,
        default=3,
        help="number of blocks to search again, and of windows in each (default: 3; 0 for none)",
    )
    verify.add_argument(
        "--seed", type=int, default=0, help="seed of the choice of blocks and windows (default: 0)"
    )
    verify.add_argument("--cases", type=Path, help=".wc file that must hold exactly the cases")
    add_common_options(verify)
    verify.set_defaults(run=_verify)


def add_check(subcommands: Any) -> None:
    """Add the command that tries libraries."""
    text = "count the hard cases that libraries round wrongly"
    check = subcommands.add_parser("check", help=text, description=text, examples=_CHECK_EXAMPLES)
    add_domain(check)
    check.add_argument("--bits", type=int, default=40, help="distance 2^-BITS ulp (default: 40)")
    check.add_argument(
        "--count", type=int, default=1000, help="number of hardest cases to try (default: 1000)"
    )
    check.add_argument("--library", action="append", default=[], help="path of a C library")
    add_common_options(check)
    check.set_defaults(run=_check)


def _verify(options: argparse.Namespace) -> int:
    """Verify certificates, or a list of cases by them, and print what was verified."""
    import tmd
    from tmd.certificates import read_certificates, verify_cases

    check_device(options.device)
    minimum = 0 if options.full or options.cases else 1
    samples = validation.check_integer("--samples", options.samples, minimum)
    seed = validation.check_integer("--seed", options.seed)
    certificates = read_certificates(options.certificate)
    summary: dict[str, Any] = {"version": VERSION, "certificate": options.certificate}

    def tell(line: str) -> None:
        """Print a line at once, because the next one may take hours."""
        if not options.json:
            print(line, flush=True)

    if options.cases:
        summary["listed"] = count = verify_cases(certificates, options.cases)
        tell(f"{options.cases}: {count} cases, exactly those that are certified")
    summary["searches"] = []
    if samples or options.full:
        for c in certificates:
            report = tmd.verify(
                c,
                full=options.full,
                samples=samples,
                rng=seed,
                progress=not options.quiet,
                device=options.device,
            )
            question = {"function": c["function"], "domain": c["domain"]}
            summary["searches"].append(question | report)
            tell(f"{c['function']} on [{', '.join(c['domain'])}): {_summarize(report)}")
    else:
        tell("no block was searched again: --samples 0")
    if options.json:
        print_json(summary)
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

    check_device(options.device)
    load_libraries(options.library)  # reports a wrong path before the search
    result = tmd.search(
        options.function,
        (options.lo, options.hi),
        bits=options.bits,
        progress=not options.quiet,
        device=options.device,
    )
    arguments = [c.argument for c in result.cases.hardest(options.count)]
    scores = check_libraries(options.function, arguments, options.library)
    if options.json:
        keys = ("argument", "returned", "correct")
        print_json(
            {
                "version": VERSION,
                "function": options.function,
                "domain": result.certificate["domain"],
                "bits": options.bits,
                "libraries": [
                    {
                        "library": score.library,
                        "tried": score.tried,
                        "wrong": [
                            dict(zip(keys, (v.hex() for v in numbers), strict=True))
                            for numbers in score.wrong
                        ],
                    }
                    for score in scores
                ],
            }
        )
        return 0
    for score in scores:
        print(f"{score.library}: {len(score.wrong)} of {score.tried} wrong")
        for x, returned, y in score.wrong[:20]:
            print(f"  {options.function}({x.hex()}) = {returned.hex()}, correct is {y.hex()}")
    return 0
