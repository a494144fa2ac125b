"""Well-known random ordinary differential equations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from hetero import validation
from rode._paths.process import Process
from rode.problems import functions
from rode.problems.checks import names_of, parameter_of
from rode.problems.descriptions import additive, separable
from rode.problems.problem import Problem

MAX_PARAMETER = 1e100
"""Largest damping and frequency: their products are within the range of float64."""


def kanai_tajimi(
    zeta: ArrayLike = 0.64,
    omega: ArrayLike = 15.56,
    *,
    tau: float = 1.0,
    c: float = 1.0,
    outputs: str | Sequence[str] = ("displacement", "velocity", "acceleration"),
    start_process: float | None = None,
) -> Problem:
    """Describe the ground in an earthquake: x'' + 2 zeta omega x' + omega^2 x = -sqrt(c) xi.

    With O of relaxation time tau this is x' = -(z + O),
    z' = -2 zeta omega (z + O) + omega^2 x + O/tau. Riesinger (2017, section 7.3) has O for O/tau in
    equation 7.6, which holds for tau = 1 only. The ground starts at rest. The acceleration is that
    of the ground, u'' = -2 zeta omega x' - omega^2 x, whose stationary variance is
    c omega (1 + 4 zeta^2)/(4 zeta) for every tau: 16.0365 m^2/s^4 with Housner's parameters.

    Parameters
    ----------
    zeta, omega : numbers or arrays with one number a path
        Damping and frequency (rad/s); Housner's values.
    tau : relaxation time of O, s. The motion of the ground does not depend on it.
    c : intensity of the white noise xi, m^2/s^3
        2 pi times the two-sided spectral density S0 of the bedrock's acceleration over angular
        frequencies. Accelerations grow with its square root: for c = 1 the largest one in 20 s has
        the median 14.9 m/s^2.
    outputs : all three, or one of them
    """
    outputs = names_of(outputs)
    names = ("displacement", "velocity", "acceleration")
    if outputs != names:
        if len(outputs) != 1:
            raise ValueError(f"outputs must be {names} or one of them, got {outputs}")
        validation.check_choice("outputs", outputs[0], names)
    process = Process(tau, c)
    for name, value in (("zeta", zeta), ("omega", omega)):
        column = parameter_of(name, value)
        if not np.all((column > 0.0) & (column <= MAX_PARAMETER)):
            raise ValueError(
                f"{name} must lie in (0, {MAX_PARAMETER:g}], got {validation.describe(value)}"
            )
    return additive(
        functions.ground_drift,
        functions.ground_noise,
        dimension=2,
        linear=True,
        parameters=(zeta, omega, process.tau),
        start=functions.ground_start,
        observe=functions.ground_observer(outputs),
        outputs=outputs,
        process=process,
        start_process=start_process,
        name="Kanai-Tajimi",
    )


def relaxation(
    start: float = 0.0, *, tau: float = 1.0, c: float = 1.0, start_process: float | None = None
) -> Problem:
    """Describe x' = -x + O. For tau = c = 1 and O_0 = o: E x = e^-t (x_0 + t o)."""
    return additive(
        functions.relax,
        functions.unit,
        dimension=1,
        linear=True,
        start=(start,),
        process=Process(tau, c),
        start_process=start_process,
        name="relaxation",
    )


def growth(
    start: float = 1.0, *, tau: float = 1.0, c: float = 1.0, start_process: float | None = None
) -> Problem:
    """Describe x' = O x, separable with G = 0, g = O, H = x: x = x_0 exp(int O)."""
    return separable(
        functions.nothing,
        functions.process,
        functions.itself,
        dimension=1,
        start=(start,),
        process=Process(tau, c),
        start_process=start_process,
        name="growth",
    )
