"""The solver: shares of its parts, orders, cost for equal errors, and float32 normal numbers.

The shares are those of figures 12.1 and 12.2 of Riesinger (2017), without the coarse steps, which
are part of our fused kernel only. Orders and costs belong to section 7.3.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np

import rode
from rode import reference
from rode._paths import averages
from rode._paths.process import Process
from rode._solver.schemes import find_scheme
from studies.rode.orders import slope, strong_errors
from studies.study import Study


def run(study: Study) -> dict:
    """Measure the solver: shares of its parts, orders, cost and float32 normals."""
    return {
        "shares": _shares(study),
        "orders": _orders(study),
        "equal error": _equal_error(study),
        "float32 normals": _mixed(study),
    }


SCENARIOS = (("averaged-euler", 10, 10, 1), ("3-rode-taylor", 5, 15, 3))
"""Scheme, -log2 of the coarse step, log2 of the fine steps in it, and sums that it takes."""


def _shares(study: Study) -> list[dict]:
    """Time each building block of one path with everything in memory, and the fused kernel."""
    records, device = [], study.device
    problem = rode.kanai_tajimi(outputs=("acceleration",))
    walk = partial(rode.ornstein_uhlenbeck, method="scan", device=device)
    most = 16 if study.quick else 28 if study.device.kind == "cuda" else 22
    for (method, power_of_h, power_of_fine, count), dtype in itertools.product(
        SCENARIOS, ("float32", "float64")
    ):
        h, fine = 2.0**-power_of_h, 1 << power_of_fine
        for power in range(16, most + 1, 4):
            steps, paths = 1 << power, min(64, (1 << power) // fine)
            noise, o = study.empty(steps, dtype), study.empty(steps, dtype)
            sums = study.empty(count * (steps // fine), dtype).reshape((count, -1))
            blocks = {
                "normal numbers": partial(rode.normal, rng=1, out=noise, device=device),
                "process": partial(walk, None, h / fine, noise=noise, out=o),
                "averages": partial(averages.loops(device).fill_sums, o, fine, sums),
            }
            record: dict[str, Any] = {"scheme": method, "dtype": dtype, "fine steps": steps}
            seconds = {name: 1.0 / study.rate(f, 1) for name, f in blocks.items()}
            total = sum(seconds.values())
            record |= {f"{name}, %": 100.0 * s / total for name, s in seconds.items()}
            record["all three, ms"] = 1e3 * total
            fused = study.rate(
                partial(
                    rode.solve,
                    problem,
                    method,
                    t_span=(0.0, steps / paths / fine * h),
                    h=h,
                    delta=h / fine,
                    paths=paths,
                    reduction="peaks",
                    dtype=dtype,
                    rng=1,
                    device=device,
                ),
                1,
            )
            record["paths of the fused kernel"] = paths
            record["fused with coarse steps, ms"] = 1e3 / fused
            records.append(record)
    rows = [list(r.values()) for r in records]
    study.table("Shares of the blocks", list(records[0]), rows)
    return records


def _orders(study: Study) -> list[dict]:
    """Measure strong orders in h with delta = h^K, and in delta at a fixed small h."""
    records, paths = [], 4 if study.quick else 48
    figure = study.figure()
    left, right = figure.subplots(1, 2)
    cases: list[tuple[str, tuple[int, ...]]]
    cases = [("averaged-euler", (5, 6, 7, 8)), ("averaged-heun", (4, 5, 6, 7))]
    cases += [("3-rode-taylor", (2, 3, 4, 5)), ("4-rode-taylor", (2, 3, 4))]
    for name, powers in cases[:2] if study.quick else cases:
        errors, order = strong_errors(name, powers, paths=paths), find_scheme(name).order
        record = {"scheme": name, "expected": order, "order in h": slope(powers, errors)}
        left.loglog([2.0**-k for k in powers], errors, "o-", label=name)
        errors = np.array([_error_at(name, m, paths) for m in (0, 1, 2, 3)])
        record["order in delta"] = slope((0, 1, 2, 3), errors) if order > 1 else None
        right.loglog([2.0**-6 / 2**m for m in (0, 1, 2, 3)], errors, "o-", label=name)
        records.append(record)
    left.set(xlabel="h, with delta = h^K", ylabel="root mean square error at t = 1")
    right.set(xlabel="delta, with h = 2^-6")
    left.legend(fontsize=8)
    study.save(figure, "orders.png")
    rows = [list(r.values()) for r in records]
    study.table("Strong orders, x' = -x + O", list(records[0]), rows)
    return records


def _error_at(method: str, log2_fine: int, paths: int) -> float:
    """Return the strong error for h = 2^-6 and delta = h 2^-log2_fine."""
    return float(strong_errors(method, (6,), fine=lambda _: log2_fine, paths=paths)[0])


def _equal_error(study: Study) -> list[dict]:
    """Measure the cost of a second of motion for a prescribed relative error of Var(u'').

    The scheme's stationary variance is exact (discrete Lyapunov equation), so is its error.
    """
    A, B, outputs = reference.kanai_tajimi()
    true, records = 16.036525, []
    for method in ("averaged-euler", "averaged-heun", "3-rode-taylor", "4-rode-taylor"):
        scheme = find_scheme(method)
        for goal in (0.03,) if study.quick else (0.03, 0.01, 0.003):
            for power in range(4, 11):
                h, fine = 2.0**-power, 1
                if method == "averaged-euler" and power < 5:
                    continue
                while fine <= 256:
                    variance = reference.stationary_variance(
                        A, B, scheme, h, fine, Process(), outputs
                    )[2]
                    if abs(variance / true - 1.0) <= goal:
                        break
                    fine *= 4
                if fine <= 256:
                    record = {"scheme": method, "error of Var(u'')": goal, "h": f"2^-{power}"}
                    record |= {"M": fine, "coarse steps/s": 2**power}
                    record |= {
                        "normals/s by path": fine << power,
                        "exact": (scheme.form_count + 1) << power,
                    }
                    records.append(record)
                    break
    rows = [list(r.values()) for r in records]
    study.table("Equal error: the coarsest steps that reach it", list(records[0]), rows)
    return records


def _mixed(study: Study) -> dict:
    """Measure rate and variance of a float64 solver with float32 and float64 normal numbers."""
    problem, records = rode.kanai_tajimi(outputs=("acceleration",)), {}
    paths = 1 << (6 if study.quick else 17 if study.device.kind == "cuda" else 10)
    for normals in (None, "float32"):
        settings: dict[str, Any] = {
            "t_span": (0, 8),
            "h": 2.0**-5,
            "delta": 2.0**-12,
            "paths": paths,
        }
        settings |= {"reduction": "moments", "save_every": 256, "normals": normals, "rng": 3}
        result = rode.solve(problem, "averaged-heun", device=study.device, **settings)
        solve = partial(rode.solve, problem, "averaged-heun", device=study.device, **settings)
        rate = study.rate(solve, result.work.fine_steps)
        variance = float(np.asarray(result.variance)[-1, 0])
        records[normals or "float64"] = {
            "G steps/s": 1e-9 * rate,
            "Var(u'')": variance,
            "standard error": variance * float(np.sqrt(2.0 / paths)),
        }
    heads = ("normals", *records["float64"])
    study.table("A float64 solver", heads, [(k, *v.values()) for k, v in records.items()])
    return records
