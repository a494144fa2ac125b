"""Show that a rename or a move changed no kernel and no result.

    python tools/guard.py record     # before: writes out/guard.json
    python tools/guard.py compare    # after: lists what differs; exit code 1 if anything does

The file holds two things, valid for the processor and the compilers' versions that it names:

- a hash of the PTX of every GPU kernel, compiled for sm_90 (no GPU is needed), without comments,
  line information and symbol names, so that renaming leaves it as it is;
- a hash of what public functions return on the CPU, bit for bit, at fixed seeds.

Kernels are compared as a set of hashes: their names may change.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import itertools
import json
import os
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported: its sums depend on it

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "out" / "guard.json"
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support"), str(ROOT / "tests")]


SYMBOL = re.compile(r"\b\w*(?:_Z|cudapy|_param_|coefficients_)\w*")
DECLARATION = re.compile(r"(\.(weak|visible|extern|common) )?\.(global|const|shared)\b")


def normalized(ptx: str) -> str:
    """Return PTX without what renaming changes: comments, line information and symbol names.

    Global declarations are sorted, because their order varies from process to process.
    """
    ptx = re.sub(r"//.*", "", ptx)
    lines = [
        line.strip()
        for line in ptx.splitlines()
        if line.strip() and not re.match(r"\s*\.(loc|file|section|pragma)\b", line)
    ]
    declarations = [SYMBOL.sub("symbol", line) for line in lines if DECLARATION.match(line)]
    numbers: dict[str, str] = {}

    def number_symbol(match: re.Match) -> str:
        return numbers.setdefault(match.group(), f"symbol{len(numbers)}")

    code = "\n".join(line for line in lines if not DECLARATION.match(line))
    return "\n".join(sorted(declarations)) + SYMBOL.sub(number_symbol, code)


def fingerprint(data: str | bytes) -> str:
    """Return a short hash of a text or of bytes."""
    data = data.encode() if isinstance(data, str) else data
    return hashlib.sha256(data).hexdigest()[:20]


def kernel_fingerprints(match: str = "") -> dict[str, str]:
    """Return the hashes of the kernels that the tests compile, by name."""
    from compile_cuda import compile_ptx, find_kernel
    from kernel_budgets import KERNELS

    hashes = {}
    for name, budget in KERNELS.items():
        if match not in name:
            continue
        kernel = find_kernel(name)
        hashes[name] = fingerprint(normalized(compile_ptx(kernel, budget.signature)))
    for name, make in generated_kernels().items():
        if match not in name:
            continue
        hashes[name] = fingerprint(normalized(compile_ptx(*make())))
    return hashes


def generated_kernels() -> dict:
    """Return functions by name; each returns a kernel that is made for a problem, and its types."""
    from generated_kernels import LBM_ITEMS, RODE_CASES, lbm_item_kernel, lbm_signature
    from kernel_budgets.budget import u8
    from kernel_budgets.tmd_kernels import NUMBERS, phase_1_signature, phase_2_signature
    from lbm import TRT
    from lbm._kernels.gpu.kernels import make_kernel
    from studies.rode.kernels import averages_kernel, solver_kernel
    from tmd._search.formulas.boolean_test_formulas import ALGORITHMS, DIVISIONS
    from tmd._search.gpu.kernels import kernels_for

    def lbm_kernel(pattern: str, odd: int, precision: str, walls: str) -> tuple:
        kernel = make_kernel("step", pattern, odd, precision, walls, TRT, False)
        return kernel, lbm_signature(precision)

    def tmd_kernel(algorithm: str, division: str, phase: int) -> tuple:
        numbers: dict[Any, Any] = NUMBERS
        number = numbers.get(DIVISIONS[division][1], u8)
        kernels = kernels_for(algorithm, division)
        if phase == 1:
            return kernels.test_subdomains, phase_1_signature(number)
        return kernels.test_pieces, phase_2_signature(number)

    precisions = "float32", "float64", "float16"
    steps = ("ab", 0), ("aa", 0), ("aa", 1), ("esoteric", 0), ("esoteric", 1)
    table = {}
    case: Any
    for step, *case in itertools.product(steps, precisions, ("none", "faces", "solids")):
        names = " ".join(map(str, (*step, *case)))
        table[f"lbm step {names}"] = lambda c=(*step, *case): lbm_kernel(*c)
    for case in itertools.product(LBM_ITEMS, precisions):
        table["lbm item " + " ".join(case)] = lambda c=case: lbm_item_kernel(*c)
    for number, case in enumerate(RODE_CASES):
        table[f"rode solver {number} {case[1]}"] = lambda c=case: solver_kernel(*c[:5], *c[6:])
    for case in (("float32", 2), ("float64", 3)):
        table[f"rode averages {case}"] = lambda c=case: averages_kernel(*c)
    for case in itertools.product(ALGORITHMS, DIVISIONS, (1, 2)):
        table[f"tmd {case[0]} {case[1]} phase {case[2]}"] = lambda c=case: tmd_kernel(*c)
    return table


def calls_in_float32() -> dict:
    """Return calls in single precision, whose results differ between devices, by name."""
    import numpy as np

    import lbm
    import rode
    import stablegpu
    from public_calls import X, law, solve
    from rode.normals import METHODS

    options: dict[str, Any] = {"dtype": "float32", "rng": 1}
    return {
        "stable.rvs": lambda d: law(d).rvs(2000, rng=4, dtype="float32"),
        **{
            f"stablegpu.{name}": lambda d, n=name: getattr(stablegpu, n)(np.float32(X), device=d)
            for name in ("ndtr", "log_ndtr")
        },
        **{
            f"rode.normal, {method}": lambda d, m=method: rode.normal(
                3000, method=m, device=d, **options
            )
            for method in METHODS
        },
        "rode.ornstein_uhlenbeck": lambda d: rode.ornstein_uhlenbeck(
            (3, 500), 0.01, device=d, **options
        ),
        "rode.solve": lambda d: solve(d, "euler", dtype="float32").paths,
        "lbm.Simulation": lambda d: (
            lbm.Simulation((20, 12, 10), u=(0.05, 0.02, 0.0), device=d).run(9).u
        ),
    }


def output_fingerprints(match: str = "") -> dict[str, str]:
    """Return the hashes of what public functions return on the CPU, by name."""
    from public_calls import CALLS

    in_float32 = {f"{name} in float32": call for name, call in calls_in_float32().items()}
    hashes = {}
    calls: dict[str, Callable[[str], object]] = CALLS | in_float32
    for name, call in calls.items():
        if match not in name:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = call("cpu")
        parts = result if isinstance(result, tuple | list) else (result,)
        hashes[name] = fingerprint(b"".join(map(as_bytes, parts)))
    return hashes


def as_bytes(value: object) -> bytes:
    """Return numbers of any kind as the bytes of an array, with its type and shape."""
    import numpy as np

    array = np.ascontiguousarray(value)
    if array.dtype == object:
        return repr(value).encode()
    return f"{array.dtype}{array.shape}".encode() + array.tobytes()


def circumstances() -> dict:
    """Return what the hashes depend on besides the sources: processor and compilers."""
    from hetero.devices import cpu_model
    from hetero.measurement.environment import versions

    compilers = ("numba", "numba-cuda", "llvmlite", "numpy", "nvidia-nvvm")
    return {"cpu": cpu_model(), **{k: v for k, v in versions().items() if k in compilers}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verb", choices=["record", "compare"])
    parser.add_argument("--only", choices=["kernels", "outputs"], help="only this half")
    parser.add_argument("--match", default="", help="only names that contain this text")
    parser.add_argument("--file", type=Path, default=FILE, help="default: %(default)s")
    options = parser.parse_args()
    now = {"circumstances": circumstances()}
    if options.only != "outputs":
        now["kernels"] = kernel_fingerprints(options.match)
    if options.only != "kernels":
        now["outputs"] = output_fingerprints(options.match)
    if options.verb == "record":
        old = json.loads(options.file.read_text()) if options.file.exists() else {}
        options.file.parent.mkdir(parents=True, exist_ok=True)
        options.file.write_text(json.dumps(old | now, indent=1) + "\n")
        return 0
    before = json.loads(options.file.read_text())
    for part in ("kernels", "outputs"):
        before[part] = {n: h for n, h in before.get(part, {}).items() if options.match in n}
    return compare(before, now)


def compare(before: dict, now: dict) -> int:
    """Print what differs; return the exit code."""
    if before["circumstances"] != now["circumstances"]:
        print(f"recorded for {before['circumstances']}, but this is {now['circumstances']}")
        return 2
    failures = 0
    if "kernels" in now:
        old, new = (collections.Counter(side["kernels"].values()) for side in (before, now))
        for name in sorted(n for n, h in before["kernels"].items() if h in old - new):
            print(f"kernel changed or gone: {name}")
            failures += 1
        for name in sorted(n for n, h in now["kernels"].items() if h in new - old):
            print(f"kernel changed or new:  {name}")
            failures += 1
    if "outputs" in now:
        for name in sorted(before["outputs"].keys() | now["outputs"].keys()):
            if before["outputs"].get(name) != now["outputs"].get(name):
                print(f"output changed: {name}")
                failures += 1
    compared = sum(len(now.get(part, ())) for part in ("kernels", "outputs"))
    print(f"{compared} compared, {failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
