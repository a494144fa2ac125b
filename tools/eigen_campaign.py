"""Attack all public ways to eigenpairs with random matrices, subsets and shifts.

    python tools/eigen_campaign.py --cases 20000 --seed 1 --minutes 30

Results are judged by their number, residuals, orthogonality, and NumPy's list of all eigenvalues.
Exit status 0: no case deviates. For each that does, a line tells how to repeat it.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools" / "eigen")]

import sbth  # noqa: E402
from eigen_cases import Case, Deviation  # noqa: E402
from eigen_matrices import is_tridiagonal  # noqa: E402

TRIDIAGONAL_RATIO = 1.0
"""Accepted residual and deviation from orthogonality of tridiagonal matrices of order 100 and more,
in units of n eps and the norm; those of others are in `eigen_cases`."""

LANCZOS = 1e3
"""Accepted residual of Lanczos iterations, in units of eps and the norm."""

GAP = 1e-10
"""Difference, in units of the norm, up to which Lanczos may take one eigenvalue for another."""


def band_of(a: np.ndarray, lower: bool) -> np.ndarray:
    """Return a matrix in band storage."""
    n, rows = len(a), np.nonzero(np.tril(a))
    width = int(np.max(rows[0] - rows[1], initial=0))
    band = np.zeros((width + 1, n), a.dtype)
    for k in range(width + 1):
        if lower:
            band[k, : n - k] = np.diag(a, -k)
        else:
            band[width - k, k:] = np.diag(a, k)
    return band


def try_full(case: Case) -> None:
    """Try `eigh` and `eigvalsh`."""
    (kind, chosen), lower = case.subset(), bool(case.choose(True, False))
    case.say("eigh", kind, chosen)
    options: dict[str, Any] = {"method": case.choose("auto", "lapack"), "device": "cpu"}
    if case.rng.random() < 0.25:
        case.say("eigvalsh")
        options["select_range"] = case.interval(chosen) if kind == "v" else chosen
        case.judge(kind, chosen, sbth.eigvalsh(case.a, select=kind, **options), None)
        return
    subset: dict[str, Any] = {}
    if kind != "a":
        name = "subset_by_index" if kind == "i" else "subset_by_value"
        subset[name] = case.interval(chosen) if kind == "v" else chosen
    given = np.tril(case.a) if lower else np.triu(case.a)
    w, v = sbth.eigh(given, lower=lower, **subset, **options)
    case.judge(kind, chosen, w, v)


def try_band(case: Case) -> None:
    """Try `eig_banded`, `eigh_tridiagonal` and their functions for eigenvalues alone."""
    (kind, chosen), lower = case.subset(), bool(case.choose(True, False))
    case.say("eig_banded", kind, chosen)
    is_real = case.a.dtype.kind == "f"
    options: dict[str, Any] = {
        "method": case.choose(*(("auto", "lapack", "sbth")[: 1 + 2 * is_real]))
    }
    options |= {"select": kind, "device": "cpu"}
    options["select_range"] = case.interval(chosen) if kind == "v" else chosen
    vectors = case.rng.random() < 0.75
    if is_real and is_tridiagonal(case.a) and case.rng.random() < 0.7:
        case.say("tridiagonal")
        if case.n >= 100:
            case.limit = TRIDIAGONAL_RATIO * case.n * case.eps
        d, e = np.diag(case.a).copy(), np.diag(case.a, -1).copy()
        call: Any = sbth.eigh_tridiagonal if vectors else sbth.eigvalsh_tridiagonal
        result = call(d, e, **options)
    else:
        call = sbth.eig_banded if vectors else sbth.eigvals_banded
        result = call(band_of(case.a, lower), lower, **options)
    case.judge(kind, chosen, *(result if vectors else (result, None)))


def try_few(case: Case) -> None:
    """Try `eigsh`."""
    k = int(case.rng.integers(1, max(2, min(case.n, 25))))
    if k >= case.n:
        return
    which, sigma = str(case.choose("LM", "LA", "SA", "BE")), None
    method = case.choose("auto", "band", "lanczos", "lanczos")
    if case.rng.random() < 0.5:
        which, sigma = "LM", case.near_an_eigenvalue()
    elif method == "band" and case.rng.random() < 0.3:
        which = "SM"
    storage = case.choose("sparse", "dense", "operator")
    case.say("eigsh", f"k={k}", which, f"sigma={sigma!r}")
    a: Any = sp.csr_matrix(case.a) if storage == "sparse" else case.a
    if storage == "operator" and sigma is None and method != "band":
        a = aslinearoperator(sp.csr_matrix(case.a))
    shift = None if sigma is None else sigma * case.scale
    w, v = sbth.eigsh(a, k, which=which, sigma=shift, method=method)
    w = case.read_values(w)
    used = sbth.forecast_eigsh(a, k, which=which, sigma=shift, method=method).method
    case.norm = max(case.norm + abs(sigma or 0.0), case.eps)  # a shift of 0 is moved
    limit, tolerance = case.limit, case.limit * case.norm
    if used == "lanczos":
        limit, tolerance = max(LANCZOS * case.eps, limit), GAP * math.sqrt(case.n) * case.norm
        if case.eps > 1e-10:
            tolerance = 0.1 * case.norm  # there is no bound in single precision
    case.require_pairs(case.unit, w, v, limit)
    center = sigma or 0.0
    order = {
        "LM": -np.abs(case.every) if sigma is None else np.abs(case.every - center),
        "SM": np.abs(case.every),
        "LA": -case.every,
        "SA": case.every,
        "BE": case.every,
    }[which]
    expected = np.argsort(order, kind="stable")[:k]
    if which == "BE":
        expected = np.concatenate([np.arange(k // 2), np.arange(case.n - (k - k // 2), case.n)])
    ranks = [
        x if which in ("LA", "SA", "BE") else np.abs(x - center) for x in (w, case.every[expected])
    ]
    difference = np.max(np.abs(np.sort(ranks[0]) - np.sort(ranks[1])))
    case.require(
        difference, max(tolerance, 2.0 * case.limit * case.norm), "wanted eigenvalues are off by"
    )


def try_pencil(case: Case) -> None:
    """Try generalized problems, whose rows may differ in magnitude."""
    rng, n, dtype = case.rng, case.n, case.a.dtype
    b = np.eye(n) * rng.uniform(1.0, 2.0, n)
    is_band = rng.random() < 0.5
    if n > 1:
        b += 0.2 * (np.eye(n, k=1) + np.eye(n, k=-1))
    b = b.astype(dtype).astype(case.unit.dtype)
    exponent = (
        int(rng.choice([0, 0, 10, 100, 400])) if dtype.char in "dD" else int(rng.choice([0, 10]))
    )
    case.scale = 1.0
    powers = rng.integers(-exponent, exponent + 1, n)
    sizes = np.ldexp(np.ones(n), powers)
    graded = [(sizes[:, None] * x * sizes).astype(dtype) for x in (case.unit, b)]
    (kind, chosen), lower = case.subset(), bool(case.choose(True, False))
    root = np.linalg.inv(np.linalg.cholesky(b))
    case.every = np.linalg.eigvalsh(root @ case.unit @ root.conj().T)
    if kind == "v":
        ends = sorted(case.near_an_eigenvalue() for _ in range(2))
        chosen = (ends[0], ends[1]) if ends[0] < ends[1] else (ends[0], math.inf)
    case.say("pencil", kind, chosen, f"powers={exponent}", "band" if is_band else "full")
    if is_band:
        bands = [band_of(x, lower) for x in graded]
        w, x = sbth.eig_banded(
            bands[0], lower, b_band=bands[1], select=kind, select_range=chosen, device="cpu"
        )
    else:
        names = {"i": "subset_by_index", "v": "subset_by_value"}
        subset: dict[str, Any] = {names[kind]: chosen} if kind in names else {}
        w, x = sbth.eigh(graded[0], graded[1], lower=lower, device="cpu", **subset)
    with np.errstate(over="ignore"):
        x = sizes[:, None] * x
    limit = 10.0 * case.limit
    case.norm = max(case.norm, float(np.abs(case.every).max()))
    case.judge(kind, chosen, w, None, limit)
    w = np.asarray(w).astype(float)
    if w.size:
        residual = np.max(np.linalg.norm(case.unit @ x - b @ x * w, axis=0))
        case.require(float(residual), limit * case.norm, "residual")
        gram = x.conj().T @ b @ x - np.eye(w.size)
        case.require(float(np.linalg.norm(gram, 1)), limit, "B-orthogonality")


WAYS = (try_full, try_band, try_few, try_pencil)


def run_case(seed: int, number: int) -> tuple[str, str]:
    """Run a case; return the way it took, and what is wrong with it, or nothing.

    Lanczos iterations that say that they have not converged are "refused".
    """
    case = Case(seed, number)
    way = WAYS[case.rng.choice(len(WAYS), p=(0.25, 0.3, 0.3, 0.15))]
    try:
        way(case)
    except Deviation as deviation:
        return way.__name__, f"{' '.join(case.words)}: {deviation}"
    except Exception as error:  # every other error is a finding
        if isinstance(error, sbth.NoConvergenceError) and "after maxiter=" in str(error):
            return "refused", ""
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
        return way.__name__, f"{' '.join(case.words)}: {text}"
    return way.__name__, ""


def main(arguments: list[str] | None = None) -> int:
    """Run the campaign; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no case after this")
    options = parser.parse_args(arguments)
    warnings.simplefilter("error", RuntimeWarning)
    start, counts, deviations = time.monotonic(), Counter[str](), 0
    for number in range(options.first, options.first + options.cases):
        if time.monotonic() - start > 60.0 * options.minutes:
            break
        way, text = run_case(options.seed, number)
        counts[way] += 1
        if text:
            deviations += 1
            repeat = (
                f"python tools/eigen_campaign.py --seed {options.seed} --first {number} --cases 1"
            )
            print(f"{repeat}  # {text}", flush=True)
    ways = ", ".join(f"{count} {way.removeprefix('try_')}" for way, count in sorted(counts.items()))
    print(
        f"{sum(counts.values())} cases with seed {options.seed} in "
        f"{time.monotonic() - start:.0f} s ({ways}): {deviations} deviate"
    )
    return 1 if deviations else 0


if __name__ == "__main__":
    sys.exit(main())
