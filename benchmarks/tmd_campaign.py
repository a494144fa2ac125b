"""`python -m benchmarks.tmd_campaign`: all binades of exp, of both signs, with certificates.

Each binade is a file in a folder, with its certificate and all cases with at least 44 identical
bits. A binade with such a file is not searched again, unless it was searched with other bits.
`--collect` turns a folder into the record, `--resume` the record into a folder. To verify the
record:

    python -m tmd verify tmd-exp-certificates.jsonl.xz --cases tmd-exp-cases.txt --samples 0
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
from pathlib import Path

import numpy as np

import hetero
import tmd
from tmd.certificates import read_certificates, verify_cases

IDENTICAL = 44
BITS = IDENTICAL + 1
"""Cases are closer than 2^-BITS ulp, so that they have at least IDENTICAL identical bits.

A binade is searched with exactly these bits, so that the hashes in its certificate belong to the
listed cases.
"""
FIRST, LAST = -30, 9
"""Exponents of the first and the last binade."""

TOP = 709.782712893384, 745.1332191019412
"""Arguments beyond which exp(x) overflows, and exp(-x) rounds to 0."""


def domain(sign: int, exponent: int) -> tuple[float, float]:
    """Return a binade, cut where exp overflows or vanishes."""
    low, high = 2.0**exponent, 2.0 ** (exponent + 1)
    top = TOP[0 if sign > 0 else 1]
    if low < top < high:
        high = np.nextafter(top, np.inf)
    if sign > 0:
        return low, high
    return float(np.nextafter(-high, 0)), float(np.nextafter(-low, 0))  # (-high, -low]


def write_binade(result: tmd.Result, folder: Path, seconds: float) -> Path:
    """Write the certificate of a binade and its cases to a file in `folder`.

    Raises
    ------
    ValueError
        The binade was searched with other bits, so that its certificate would not match the list.
    """
    if result.bits != BITS:
        raise ValueError(f"a binade of the record needs bits={BITS}, got {result.bits}")
    folder.mkdir(parents=True, exist_ok=True)
    rows = [[c.hex, c.kind, c.identical_bits] for c in result.cases]
    lo, hi = (float(x) for x in result.domain)
    path = folder / file_name(lo, hi)
    record = {"domain": [lo.hex(), hi.hex()], "seconds": seconds, "cases": rows}
    record |= {"certificate": result.certificate}
    path.write_text(json.dumps(record) + "\n")
    return path


def file_name(lo: float, hi: float) -> str:
    """Return the name of a binade's file, which consists of its sign and exponent."""
    exponent = int(np.floor(np.log2(abs(lo + hi) / 2)))
    return f"exp_{'p' if lo > 0 else 'm'}{exponent:+04d}.json"


def list_binades() -> list[tuple[int, int]]:
    """Return signs and exponents of all binades, the cheap ones first."""
    return [(sign, e) for e in range(FIRST, LAST + 1) for sign in (1, -1)]


def is_done(path: Path) -> bool:
    """Return whether the file of a binade exists and was searched with the right bits."""
    return path.exists() and json.loads(path.read_text())["certificate"]["bits"] == BITS


def run(folder: Path, device: hetero.Device, budget: float) -> None:
    """Search binades until the next one would probably exceed the budget of seconds."""
    begin, last = time.perf_counter(), 0.0
    for sign, e in list_binades():
        name = file_name(*domain(sign, e))
        if is_done(folder / name):
            continue
        if time.perf_counter() - begin + 1.7 * last > budget:
            break
        start = time.perf_counter()
        result = tmd.search("exp", domain(sign, e), bits=BITS, device=device)
        last = time.perf_counter() - start
        path = write_binade(result, folder, last)
        assert path.name == name, (path, name)
        hardest = result.cases.hardest(1)
        print(f"{name} {last:.2f} s, {len(result.cases)} cases, {hardest}", flush=True)


def collect(folder: Path, target: Path) -> None:
    """Write the record of all binades in a folder: a table, the cases and the certificates."""
    paths = sorted(folder.glob("exp_*.json"))
    if other := [path.name for path in paths if not is_done(path)]:
        raise ValueError(
            f"not searched with bits={BITS}: {', '.join(other)}; run the campaign again"
        )
    records = [json.loads(path.read_text()) for path in paths]
    records.sort(key=lambda r: float.fromhex(r["domain"][0]))
    lines = [
        f"# exp: arguments with {IDENTICAL} or more identical bits after the round bit, kind, bits",
        "# F: near a binary64 number; M: near a midpoint; exact: the breakpoint itself",
    ]
    table = []
    for r in records:
        rows = sorted(r["cases"], key=lambda c: float.fromhex(c[0]))
        lines.append(f"# [{r['domain'][0]}, {r['domain'][1]})")
        lines += [f"{x} {kind} {'exact' if n is None else n}" for x, kind, n in rows]
        hardest = max((c for c in rows if c[2] is not None), key=lambda c: c[2], default=None)
        c = r["certificate"]
        table.append(
            {
                "domain": r["domain"],
                "bits": c["bits"],
                "arguments": sum(b[c["columns"].index("count")] for b in c["blocks"]),
                f"cases_{IDENTICAL}": len(rows),
                "hardest": hardest,
                "seconds": round(r["seconds"], 3),
                "certificate": c["hash"],
            }
        )
    target.mkdir(parents=True, exist_ok=True)
    (target / "tmd-exp-cases.txt").write_text("\n".join(lines) + "\n")
    certificates = "\n".join(json.dumps(r["certificate"]) for r in records) + "\n"
    with lzma.open(target / "tmd-exp-certificates.jsonl.xz", "wt") as file:
        file.write(certificates)
    verify_cases([r["certificate"] for r in records], target / "tmd-exp-cases.txt")
    record = {"campaign": "exp", "identical_bits": IDENTICAL, "binades": table}
    (target / "tmd-exp.json").write_text(json.dumps(record, indent=1) + "\n")


def unpack(source: Path, folder: Path) -> None:
    """Write the files of the binades in a record: the inverse of `collect`."""
    folder.mkdir(parents=True, exist_ok=True)
    table = json.loads((source / "tmd-exp.json").read_text())["binades"]
    lists = (source / "tmd-exp-cases.txt").read_text().split("# [")[1:]
    certificates = read_certificates(source / "tmd-exp-certificates.jsonl.xz")
    for binade, listed, certificate in zip(table, lists, certificates, strict=True):
        rows = [line.split() for line in listed.splitlines()[1:]]
        cases = [[x, kind, None if n == "exact" else int(n)] for x, kind, n in rows]
        record = {"domain": binade["domain"], "seconds": binade["seconds"], "cases": cases}
        name = file_name(*map(float.fromhex, binade["domain"]))
        (folder / name).write_text(json.dumps(record | {"certificate": certificate}) + "\n")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tmd_campaign", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/tmd"))
    parser.add_argument("--device")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds")
    parser.add_argument("--collect", type=Path, metavar="FOLDER", help="write the record there")
    parser.add_argument(
        "--resume", type=Path, metavar="FOLDER", help="continue from the record there"
    )
    options = parser.parse_args()
    if options.collect:
        collect(options.out, options.collect)
    else:
        if options.resume:
            unpack(options.resume, options.out)
        run(options.out, hetero.resolve(options.device), options.budget)


if __name__ == "__main__":
    main()
