"""`python -m benchmarks.tmd_lists FOLDER ...`: the published lists, from folders of `tmd campaign`.

Each finished binade is proved by `tmd/checker.py`, which shares no code with the search. Then the
lists and a record with a row for each binade are written; lists of other functions stay.
`--compare` compares folders with the record instead: whoever searches a binade again gets the same
hash. `--check` compares the published lists with the record, and `--unpack` writes the certificates
and the lists that they certify.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import random
import re
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from hetero.data_files.atomic_files import write_json, write_lines
from hetero.measurement.environment import facts
from tmd import checker
from tmd._certificates.reading import load_certificate, read_certificates
from tmd._search.decisions import measure_distance
from tmd.formats import Format, format_hexadecimal, to_fraction
from tmd.functions import load_function

RECORDS = Path(__file__).parent / "records/tmd"
PAGE = Path(__file__).parents[1] / "docs/packages/tmd-lists.md"
BEGIN, END = "<!-- from the record: begin -->\n", "<!-- from the record: end -->\n"

COLUMNS = ("exponent", "near floats", "near midpoints", "hardest", "kind", "identical bits",
           "windows walked", "certificate", "list")  # fmt: skip
"""Of a binade; `list` is the BLAKE2b hash of its lines."""

_BINADE = re.compile(r"(positive-|negative-)?(-?\d+)")

Row = tuple[str, str, int | None]
"""An argument, its kind, and its identical bits; None stands for an exact value."""


def list_binades(folder: Path) -> list[str]:
    """Return the names of the finished binades of a campaign, in the order of the arguments."""
    names = [path.stem for path in folder.glob("*.json") if _BINADE.fullmatch(path.stem)]

    def place(name: str) -> tuple[bool, int]:
        match = _BINADE.fullmatch(name)
        assert match is not None
        is_negative, e = match[1] == "negative-", int(match[2])
        return not is_negative, -e if is_negative else e

    return sorted(names, key=place)


def prove(name: str, folder: Path, windows: int) -> dict[str, Any]:
    """Prove a binade by the checker that stands alone; return its cases and what was proved.

    The result is kept in the folder for the next call. Raises `checker.Refused`.
    """
    certificate = load_certificate(folder / f"{name}.json")
    path = folder / "proofs" / f"{name}.json"
    if path.exists():
        proof: dict[str, Any] = json.loads(path.read_text())
        if proof["certificate"] == certificate["hash"] and proof["windows"] >= windows:
            return proof
    begin = time.process_time()
    lines = (folder / f"{name}.wc").read_text().splitlines()
    check = checker.CHECKERS[certificate["kind"], certificate["version"]]
    statement = check(certificate, lines, windows, seed=1)
    proved = [step() for step in statement.steps()]
    function, fmt = load_function(certificate["function"]), Format.create(certificate["precision"])
    cases = [measure(function, fmt, x, statement.kinds) for x in sorted(statement.list)]
    proof = {"certificate": certificate["hash"], "windows": windows, "proved": proved,
             "seconds": time.process_time() - begin, "cases": cases}  # fmt: skip
    path.parent.mkdir(exist_ok=True)
    write_json(path, proof)
    return proof


def measure(function: Any, fmt: Format, x: Fraction, kinds: str) -> Row:
    """Return the argument, kind and identical bits of a case."""
    distances = [(*measure_distance(function, fmt, x, kind == "M"), kind) for kind in kinds]
    _, bits, kind = min(distances, key=lambda d: tuple(d[0]))
    return format_hexadecimal(x), kind, bits


def lines_of(cases: Sequence[Row]) -> list[str]:
    """Return the lines of a list."""
    return [f"{x} {kind} {'exact' if bits is None else bits}" for x, kind, bits in cases]


def describe(name: str, proof: dict[str, Any]) -> list:
    """Return the row of a binade in the record."""
    cases = [tuple(case) for case in proof["cases"]]
    counts = [sum(kind == k for _, kind, _ in cases) for k in "FM"]
    inexact = [case for case in cases if case[2] is not None]
    hardest = max(inexact, key=lambda case: case[2], default=(None, None, None))
    text = "".join(f"{line}\n" for line in lines_of(cases))
    digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return [name, *counts, *hardest, proof["windows"], proof["certificate"], digest]


def prove_all(folder: Path, windows: int, processes: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the binades of a folder with their proofs."""
    names = list_binades(folder)
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        results = pool.map(partial(prove, folder=folder, windows=windows), names)
        yield from zip(names, results, strict=True)


def collect(folder: Path, target: Path, windows: int, processes: int, least: int) -> dict:
    """Write the list of a campaign with at least so many identical bits; return its record."""
    question = json.loads((folder / "campaign.json").read_text())
    function, rows, lines, listed = question["function"], [], [], 0
    for name, proof in prove_all(folder, windows, processes):
        rows.append(describe(name, proof))
        shown = [c for c in proof["cases"] if c[2] is None or c[2] >= least]
        lines += [f"# {name}", *lines_of(shown)]
        listed += len(shown)
    file = target / f"tmd-{function}-cases.txt.xz"
    head = [f"# {function}: arguments with {least} or more identical bits after the round bit,",
            "# kind (F: near a float, M: near a midpoint), identical bits"]  # fmt: skip
    target.mkdir(parents=True, exist_ok=True)
    write_compressed(file, head + lines)
    certificates = [(folder / f"{name}.json").read_text().strip() for name in list_binades(folder)]
    write_compressed(target / f"tmd-{function}-certificates.jsonl.xz", certificates)
    return {
        "function": function, "bits": question["bits"], "precision": question["precision"],
        "parts": question.get("parts"), "file": file.name, "listed_from": least, "listed": listed,
        "columns": list(COLUMNS), "binades": rows,
    }  # fmt: skip


def write_compressed(path: Path, lines: Sequence[str]) -> None:
    """Write lines to a compressed file."""
    path.write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode(), preset=9))


def unpack(record: dict, source: Path, folder: Path) -> None:
    """Write the certificates of a record and their lists to the folder of a campaign."""
    if record["listed_from"] != record["bits"] - 1:
        raise ValueError(f"{record['file']} does not have all cases of its certificates")
    name = f"tmd-{record['function']}-certificates.jsonl.xz"
    lists, certificates = read_list(source / record["file"]), read_certificates(source / name)
    keys = "function", "bits", "precision", "parts"
    question = {key: record[key] for key in keys if record[key] is not None}
    write_json(folder / "campaign.json", question)
    for (binade, rows), certificate in zip(lists.items(), certificates, strict=True):
        write_json(folder / f"{binade}.json", certificate)
        write_lines(folder / f"{binade}.wc", [f"{x} {kind}" for x, kind, _ in rows])


def read_list(path: Path) -> dict[str, list[Row]]:
    """Return the cases of a published list by the names of their binades."""
    binades: dict[str, list[Row]] = {}
    for line in lzma.decompress(path.read_bytes()).decode().splitlines()[2:]:
        if line.startswith("# "):
            rows = binades[line[2:]] = []
        else:
            x, kind, bits = line.split()
            rows.append((x, kind, None if bits == "exact" else int(bits)))
    return binades


def check_published(record: dict, target: Path, sample: int) -> int:
    """Check a published list against its record, and some random cases of it by balls.

    Returns the number of cases. Raises ValueError if anything differs.
    """
    binades = read_list(target / record["file"])
    function, fmt = load_function(record["function"]), Format.create(record["precision"])
    cases = [case for rows in binades.values() for case in rows]
    chosen = random.Random(0).sample(cases, min(sample, len(cases)))
    is_complete = record["listed_from"] == record["bits"] - 1
    for row in record["binades"]:
        rows = binades.get(row[0], [])
        proof = {"cases": rows, "windows": row[6], "certificate": row[7]}
        is_listed = (row[5] or 0) >= record["listed_from"]
        if (is_listed and tuple(row[3:6]) not in rows) or (
            is_complete and describe(row[0], proof) != row
        ):
            raise ValueError(f"{record['file']} differs from the record in the binade {row[0]}")
    for case in chosen:
        if measure(function, fmt, to_fraction("argument", case[0]), "FM") != case:
            raise ValueError(f"{record['file']} is wrong about {case[0]}")
    if [*binades] != [row[0] for row in record["binades"]] or len(cases) != record["listed"]:
        raise ValueError(f"{record['file']} has other binades than the record, or other cases")
    return len(cases)


def compare(folder: Path, record: dict) -> int:
    """Say which binades of a folder have the lists of the record; return how many differ."""
    question = json.loads((folder / "campaign.json").read_text())
    stored = next(x for x in record["lists"] if x["function"] == question["function"])
    if question["bits"] != stored["bits"] or question["precision"] != stored["precision"]:
        raise ValueError(f"{folder} has other bits or another precision than the record")
    rows, differing = {row[0]: row for row in stored["binades"]}, 0
    for name, proof in prove_all(folder, 1, 1):
        if name not in rows:
            print(f"{stored['function']} {name}: not in the record")
            continue
        is_equal = describe(name, proof)[-1] == rows[name][-1]
        differing += not is_equal
        print(f"{stored['function']} {name}: {'equal' if is_equal else 'DIFFERENT'}")
    return differing


def binade_ranges(exponents: Sequence[int]) -> str:
    """Return the exponents as unions of domains, such as [2^11, 2^15)."""
    parts: list[list[int]] = []
    for e in sorted(exponents):
        if parts and e == parts[-1][1]:
            parts[-1][1] = e + 1
        else:
            parts.append([e, e + 1])
    return ", ".join(f"[2^{a}, 2^{b})" for a, b in parts)


def write_page(record: dict) -> None:
    """Write the tables of the page of the lists."""
    head, rest = PAGE.read_text().split(BEGIN)
    lines = "".join(f"{line}\n" for line in tables(record))
    PAGE.write_text(f"{head}{BEGIN}\n{lines}\n{END}{rest.split(END)[1]}")


def tables(record: dict) -> Iterator[str]:
    """Yield the lines of the tables of a record."""
    yield "| | domain | binades | cases | near floats | near midpoints | hardest | list |"
    yield "|---|---|---|---|---|---|---|---|"
    for x in record["lists"]:
        rows = x["binades"]
        floats, middles = sum(row[1] for row in rows), sum(row[2] for row in rows)
        hardest = max(rows, key=lambda row: row[5] or 0)
        file = f"`{x['file']}`: {x['listed']:,} from {x['listed_from']} bits on"
        yield (f"| {x['function']} | {binade_ranges([exponent_of(row[0]) for row in rows])} | "
               f"{len(rows)} | {floats + middles:,} | {floats:,} | {middles:,} | "
               f"`{hardest[3]}`, {hardest[4]}, {hardest[5]} | {file} |")  # fmt: skip
    for x in record["lists"]:
        yield ""
        yield f"The hardest of {x['function']}:"
        yield ""
        yield "| argument | kind | identical bits |"
        yield "|---|---|---|"
        for row in sorted(x["binades"], key=lambda row: -(row[5] or 0))[:5]:
            yield f"| `{row[3]}` | {row[4]} | {row[5]} |"


def exponent_of(name: str) -> int:
    """Return the exponent of a binade from its name."""
    match = _BINADE.fullmatch(name)
    assert match is not None
    return int(match[2])


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return 1 if a list differs from that of the record."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tmd_lists", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--out", type=Path, default=RECORDS, help="folder for record and lists")
    parser.add_argument("--windows", type=int, default=20, help="windows walked in each binade")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--facts", type=Path, help="JSON with the machine of the searches")
    parser.add_argument("--least", nargs="*", default=[], metavar="FUNCTION=BITS",
                        help="fewest identical bits that are published (default: all)")  # fmt: skip
    parser.add_argument("--compare", action="store_true", help="compare with the record")
    parser.add_argument("--check", action="store_true", help="check the published lists instead")
    parser.add_argument("--unpack", type=Path, metavar="DIR", help="write certificates and lists")
    parser.add_argument("--page", action="store_true", help="write the tables of the page, too")
    options = parser.parse_args(argv)
    path = options.out / "tmd-lists.json"
    if options.check:
        for record in json.loads(path.read_text())["lists"]:
            count = check_published(record, options.out, sample=10_000)
            print(f"{record['file']}: {count} cases, as the record says")
        return 0
    if options.unpack:
        for record in json.loads(path.read_text())["lists"]:
            unpack(record, options.out, options.unpack / record["function"])
        return 0
    if options.compare:
        record = json.loads(path.read_text())
        return int(sum(compare(folder, record) for folder in options.folders) > 0)
    if options.folders:
        least = dict(pair.split("=") for pair in options.least)
        machine = json.loads(options.facts.read_text()) if options.facts else facts()
        stored = json.loads(path.read_text())["lists"] if path.exists() else []
        lists = {x["function"]: x for x in stored}
        for folder in options.folders:
            question = json.loads((folder / "campaign.json").read_text())
            fewest = int(least.get(question["function"], question["bits"] - 1))
            found = collect(folder, options.out, options.windows, options.processes, fewest)
            lists[question["function"]] = {**found, "facts": machine}
        write_json(path, {"lists": [*lists.values()]})
    if options.page:
        write_page(json.loads(path.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
