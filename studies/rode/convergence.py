"""Strong orders of `rode.solve` itself: one seed and one fine step, and shorter and shorter steps.

Every run of a problem has the same process, because fine steps are numbered along the path. So the
distance of each path from that of the finest run is the error of its coarse steps, and shrinks with
the order of the scheme, down to a floor: averages over M fine steps differ from integrals by terms
of order delta, which are not the same for every M. The second problem is not linear: an oscillator
with a cubic spring (Duffing), for which K-RODE-Taylor schemes use derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import rode
from hetero.devices import Device
from rode._solver.schemes import SCHEMES
from rode._solver.schemes.scheme import Numbers
from studies.study import Study

DELTA = 2.0**-22
"""Fine step of every run, s."""

END = 1.0
SEED = 12
FINEST = "5-rode-taylor"
"""Scheme of the run that stands for the limit of ever shorter coarse steps."""

FINEST_NONLINEAR = "3-rode-taylor"
"""The same for the problem that is not linear."""

LARGEST_ORDER = 4
"""Errors of higher orders reach rounding before their slope can be measured."""


def duffing(**options: Any) -> rode.Problem:
    """Return x'' = -x - x^3 - x'/2 + O with the derivatives of its right-hand side."""

    def H(x: Numbers, p: Numbers) -> Numbers:
        T = type(x[0])
        return x[1], -x[0] - x[0] * x[0] * x[0] - T(0.5) * x[1]

    def first(x: Numbers, v: Numbers, p: Numbers) -> Numbers:
        T = type(x[0])
        return v[1], -v[0] - T(3.0) * x[0] * x[0] * v[0] - T(0.5) * v[1]

    def second(x: Numbers, u: Numbers, v: Numbers, p: Numbers) -> Numbers:
        T = type(x[0])
        return T(0.0), -T(6.0) * x[0] * u[0] * v[0]

    def B(p: Numbers) -> Numbers:
        return 0.0, 1.0

    return rode.additive(
        H,
        B,
        dimension=2,
        start=(1.0, 0.0),
        first_derivative=first,
        second_derivative=second,
        name="Duffing",
        **options,
    )


def errors_of(
    problem: rode.Problem,
    methods: Sequence[str],
    finest: str,
    powers: Sequence[int],
    *,
    paths: int,
    delta: float,
    device: Device,
) -> tuple[list[tuple[Any, ...]], float]:
    """Return rows (scheme, errors for h = 2^-power, order), and the size of the first output.

    Errors are root mean squares over the paths of the first output at the end; the run of the
    scheme `finest` with half of the shortest step stands for the limit.
    """

    def end_of_paths(method: str, power: int) -> np.ndarray:
        h = 2.0**-power
        result = rode.solve(
            problem,
            method,
            t_span=(0.0, END),
            h=h,
            delta=delta,
            paths=paths,
            rng=SEED,
            save_every=round(END / h),
            device=device,
        )
        assert result.paths is not None
        return np.asarray(result.paths[-1, 0])

    limit, rows = end_of_paths(finest, powers[-1] + 1), []
    for name in methods:
        errors = [
            float(np.sqrt(np.mean((end_of_paths(name, power) - limit) ** 2))) for power in powers
        ]
        order = -float(np.polyfit(powers, np.log2(errors), 1)[0])
        rows.append((name, *errors, order))
    return rows, float(np.sqrt(np.mean(limit**2)))


def run(study: Study) -> dict:
    """Measure root mean square errors at the end over the paths, and orders by regression."""
    powers = (6, 7) if study.quick else (5, 6, 7, 8)
    paths, delta = (8, 2.0**-10) if study.quick else (128, DELTA)
    options: dict[str, Any] = {"paths": paths, "delta": delta, "device": study.device}
    linear = rode.kanai_tajimi(start_process=0.0, outputs=("displacement",))
    methods = [name for name, scheme in SCHEMES.items() if scheme.order <= LARGEST_ORDER]
    rows, size = errors_of(linear, methods, FINEST, powers, **options)
    heads = ("scheme", *(f"h = 2^-{power}" for power in powers), "order")
    title = f"Root mean square error of u(1), whose root mean square is {size:.3g}; {paths} paths"
    study.table(title, heads, rows)
    _draw(study, powers, rows)
    lower = powers if study.quick else tuple(power - 2 for power in powers)
    others = [n for n in methods if SCHEMES[n].order <= SCHEMES[FINEST_NONLINEAR].order]
    nonlinear, size = errors_of(
        duffing(start_process=0.0), others, FINEST_NONLINEAR, lower, **options
    )
    columns = ("scheme", *(f"h = 2^-{power}" for power in lower), "order")
    title = f"The same for x(1) of a Duffing oscillator, whose root mean square is {size:.3g}"
    study.table(title, columns, nonlinear)
    return {
        "paths": paths,
        "seed": SEED,
        "delta": delta,
        "columns": heads,
        "rows": rows,
        "nonlinear": {"columns": columns, "rows": nonlinear},
    }


def _draw(study: Study, powers: tuple[int, ...], rows: list[tuple]) -> None:
    figure = study.figure()
    axes = figure.subplots()
    for name, *errors, order in rows:
        axes.loglog(
            [2.0**-p for p in powers], errors, marker="o", label=f"{name}, order {order:.2f}"
        )
    axes.set_xlabel("h (s)")
    axes.set_ylabel("root mean square error of u(1)")
    axes.legend()
    study.save(figure, "rode-convergence.png")
