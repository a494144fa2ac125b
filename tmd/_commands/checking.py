"""`tmd verify` and `tmd check`: certificates are verified, libraries tried on hard cases."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hetero import validation
from hetero.command_line import FAILED, add_common_options, check_device, print_json, save_output
from hetero.command_line.parsers import add_version
from hetero.validation import check_output_path
from hetero.version import VERSION
from tmd._commands.searching import add_domain

if TYPE_CHECKING:
    from tmd.library_check import LibraryScore

_VERIFY_EXAMPLES = (
    ("exp.json", "search some blocks again"),
    ("exp.json --full", "search all of them again"),
    ("exp.json --cases exp.wc --samples 0", "compare a list of cases with its certificate"),
)
_CHECK_EXAMPLES = (
    ("exp 1 1.0001 --bits 34 --library libm.so.6", "NumPy, Python and the C library, in seconds"),
    ("exp --cases exp.wc --library ./libcr.so --symbol cr_exp", "your library on a list of cases"),
    ("exp 1 2 --precision 24 --bits 16 --library libm.so.6", "expf of the C library"),
    ("exp 1 1.0001 --bits 34 --library libm.so.6 --modes all", "in all four rounding modes"),
    ("pow --cases pow.wc --library libm.so.6", "two arguments a line, separated by a comma"),
    ("zeta --cases z.wc --library ./z.so --reference mpmath:zeta", "a function of your own"),
)

_CONVERT_EXAMPLES = (
    ("exp exp.wc --to llvm", "an array for a test of LLVM-libc"),
    ("sin auto-libm-test-in --to core-math --out sin.wc", "glibc's inputs of sin"),
)

_SHOWN = 20
"""Wrong values of a library that are printed."""


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
    more = "; Python's and NumPy's are tried for comparison"
    check = subcommands.add_parser(
        "check", help=text, description=text + more, examples=_CHECK_EXAMPLES, intermixed=True
    )
    add_domain(check, optional=True)
    check.add_argument("--bits", type=int, default=40, help="distance 2^-BITS ulp (default: 40)")
    check.add_argument(
        "--count", type=int, default=1000, help="number of hardest cases to try (default: 1000)"
    )
    check.add_argument("--cases", type=Path, help="list of arguments, instead of a search")
    add_format(check, "--format")
    check.add_argument(
        "--library",
        action="append",
        default=[],
        help="C library: a path with a slash, or a name that the loader searches for",
    )
    check.add_argument("--symbol", help="name of the function in it (default: FUNCTION, or with f)")
    check.add_argument(
        "--precision",
        type=int,
        default=53,
        choices=[53, 24],
        help="53 for double, 24 for float functions (default: 53)",
    )
    check.add_argument(
        "--modes",
        default="nearest",
        help="rounding modes: nearest, up, down, zero, several with commas, or all "
        "(default: nearest)",
    )
    check.add_argument(
        "--flags", action="store_true", help="also compare overflow, underflow and inexact"
    )
    check.add_argument(
        "--reference",
        metavar="MODULE:NAME",
        help="function of flint.arb or mpmath that decides, for functions without a search; with "
        "--cases, of which a line may have two arguments",
    )
    add_exit_zero(check)
    add_common_options(check)
    check.set_defaults(run=_check)


def add_exit_zero(parser: argparse.ArgumentParser) -> None:
    """Add the option with which wrong results of a library are no failure."""
    parser.add_argument(
        "--exit-zero",
        action="store_true",
        help="end with exit code 0, not 1, if the results of a --library are wrong",
    )


def add_format(parser: argparse.ArgumentParser, option: str) -> None:
    """Add the option that names the format of a list."""
    from tmd._libraries.list_formats import FORMATS

    parser.add_argument(
        option, choices=sorted(FORMATS), help="format of the list (default: what it looks like)"
    )


def add_convert(subcommands: Any) -> None:
    """Add the command that converts lists."""
    from tmd._libraries.list_formats import FORMATS

    text = "write a list of arguments in the format of another project"
    convert = subcommands.add_parser(
        "convert", help=text, description=text, examples=_CONVERT_EXAMPLES
    )
    convert.add_argument("function", help="as in check")
    convert.add_argument("list", type=Path, help="a list of CORE-MATH, LLVM-libc or glibc")
    convert.add_argument("--to", required=True, choices=sorted(FORMATS), help="format to write")
    add_format(convert, "--format")
    convert.add_argument(
        "--precision", type=int, default=53, choices=[53, 24], help="as in check (default: 53)"
    )
    convert.add_argument("--reference", metavar="MODULE:NAME", help="as in check")
    convert.add_argument("--out", type=Path, help="file to write (default: standard output)")
    add_version(convert, "tmd")
    convert.set_defaults(run=_convert)


def _verify(options: argparse.Namespace) -> int:
    """Verify certificates, or a list of cases by them, and print what was verified."""
    import tmd
    from tmd.certificates import MAX_SAMPLES, read_certificates, verify_cases

    check_device(options.device)
    minimum = 0 if options.full or options.cases else 1
    samples = validation.check_integer("--samples", options.samples, minimum, MAX_SAMPLES)
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
            question = {k: c[k] for k in ("function", "domain", "exponent", "phases") if k in c}
            summary["searches"].append(question | report)
            domain = f"[{', '.join(c['domain'])})" if "domain" in c else (
                f"2^{c['exponent']}, phases [{', '.join(c['phases'])})"
            )  # fmt: skip
            tell(f"{c['function']} on {domain}: {_summarize(report)}")
    else:
        tell("no block was searched again: --samples 0")
    if options.json:
        print_json(summary)
    return 0


def _summarize(report: dict) -> str:
    """Describe what was searched again, and whether that was everything."""
    noun = "blocks" if "blocks" in report else "groups of windows"
    blocks, total = (report[prefix + noun.split()[0]] for prefix in ("", "certified_"))
    sample = "" if blocks == total else " (a sample; --full takes all)"
    return (
        f"verified {blocks} of {total} {noun}{sample}, {report['windows']} windows, "
        f"{report['arguments']} arguments, {report['cases']} cases"
    )


def _check(options: argparse.Namespace) -> int:
    """Compare libraries on hard cases and print their scores; fail if one of --library is wrong."""
    from tmd.library_check import check_libraries, require_libraries

    check_device(options.device)
    modes = tuple(options.modes.split(","))
    question = options.library, options.symbol, options.precision, modes, options.reference
    require_libraries(options.function, *question)  # before a search that may take hours
    arguments, origin = _arguments_of(options)
    scores = check_libraries(
        options.function,
        arguments,
        options.library,
        symbol=options.symbol,
        precision=options.precision,
        modes=modes,
        flags=options.flags,
        reference=options.reference,
    )
    if options.json:
        libraries = [_as_dict(score) for score in scores]
        summary = {"version": VERSION, "function": options.function, **origin}
        print_json(summary | {"precision": options.precision, "libraries": libraries})
    else:
        _print_scores(options, scores)
    labels = list(dict.fromkeys(score.library for score in scores))
    own = labels[len(labels) - len(options.library) :]  # behind Python's and NumPy's
    is_wrong = any(score.library in own and (score.wrong or score.flags) for score in scores)
    return FAILED if is_wrong and not options.exit_zero else 0


def _print_scores(options: argparse.Namespace, scores: list[LibraryScore]) -> None:
    """Print the counts of each library and mode, and some wrong results."""
    from tmd.library_check import hex_of

    for score in scores:
        mode = "" if options.modes == "nearest" else f", rounding {score.mode}"
        kinds = ", ".join(f"{kind} {bad} of {tried}" for kind, (bad, tried) in score.kinds.items())
        print(f"{score.library}{mode}: {len(score.wrong)} of {score.tried} wrong ({kinds})")
        for x, returned, y in score.wrong[:_SHOWN]:
            print(f"  {options.function}({hex_of(x)}) = {returned.hex()}, correct is {y.hex()}")
        if (hidden := len(score.wrong) - _SHOWN) > 0:
            print(f"  and {hidden} more; --json has all")
        for x, raised, right in score.flags[:_SHOWN]:
            names = [" and ".join(flags) or "nothing" for flags in (raised, right)]
            print(f"  {options.function}({hex_of(x)}) raises {names[0]}, correct is {names[1]}")
        if (hidden := len(score.flags) - _SHOWN) > 0:
            print(f"  and {hidden} more flags; --json has all")


def _arguments_of(options: argparse.Namespace) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments to try, from a list or by a search, and where they come from."""
    import tmd
    from tmd._libraries.oracles import PAIRS
    from tmd.library_check import read_arguments

    if options.cases is not None:
        if options.lo is not None:
            raise ValueError("--cases replaces the domain: leave out LO and HI, or --cases")
        listed, skipped = read_arguments(
            options.cases, options.function, options.precision, options.reference, options.format
        )
        _tell_skipped(options.cases, skipped)
        if not listed:
            raise ValueError(f"--cases: {str(options.cases)!r} holds no case")
        return listed, {"cases": options.cases, "skipped": sum(skipped.values())}
    if options.reference is not None or options.function in PAIRS:
        raise ValueError(f"{options.function} has no search here: pass --cases FILE")
    if options.hi is None:
        raise ValueError("pass the ends LO and HI of a domain, or --cases FILE")
    result = tmd.search(
        options.function,
        (options.lo, options.hi),
        bits=options.bits,
        precision=options.precision,
        progress=not options.quiet,
        device=options.device,
    )
    arguments = [c.argument for c in result.cases.hardest(options.count)]
    if not arguments:
        raise ValueError(f"the domain has no case closer than 2^-{options.bits} ulp: lower --bits")
    return arguments, {"domain": result.certificate["domain"], "bits": options.bits}


def _tell_skipped(path: Path, skipped: dict[str, int]) -> None:
    """Say how many lines of a list say nothing about rounding."""
    for reason, count in skipped.items():
        noun = "line" if count == 1 else "lines"
        print(f"{path}: {count} {noun} skipped, {reason}", file=sys.stderr)


def _convert(options: argparse.Namespace) -> int:
    """Read a list, and write it in another format."""
    from tmd._libraries.callables import PRECISIONS
    from tmd._libraries.list_formats import write_list
    from tmd.library_check import read_arguments

    check_output_path("--out", options.out)
    arguments, skipped = read_arguments(
        options.list, options.function, options.precision, options.reference, options.format
    )
    _tell_skipped(options.list, skipped)
    points = [x if isinstance(x, tuple) else (x,) for x in arguments]
    lines = write_list(options.to, options.function, points, PRECISIONS[options.precision])
    text = "\n".join(lines) + "\n"
    if options.out is None:
        print(text, end="")
    else:
        save_output(options.out, lambda path: path.write_text(text))
    return 0


def _as_dict(score: LibraryScore) -> dict[str, Any]:
    """Return a score for JSON, with C's hexadecimal numbers."""
    from tmd.library_check import hex_of

    keys = ("argument", "returned", "correct")
    wrong = [dict(zip(keys, map(hex_of, row), strict=True)) for row in score.wrong]
    kinds = {kind: {"wrong": bad, "tried": tried} for kind, (bad, tried) in score.kinds.items()}
    flags = [{"argument": hex_of(x), "raised": raised, "correct": right}
             for x, raised, right in score.flags]  # fmt: skip
    return {
        "library": score.library,
        "mode": score.mode,
        "tried": score.tried,
        "wrong": wrong,
        "kinds": kinds,
        "flags": flags,
    }
