"""Correction of peaks for what the solution does between two steps."""

from __future__ import annotations

import itertools

import numpy as np

from hetero import validation
from rode.problems.calls import call_uncompiled
from rode.problems.checks import SIZES
from rode.problems.problem import Problem

OVERSHOOT = 0.5825971579390107
"""-zeta(1/2) / sqrt(2 pi): mean distance between the largest value of a Brownian path and the
largest one at whole steps, in standard deviations of a step (Broadie, Glasserman and Kou 1997)."""

_TIMES = 0.3, 7.0, -1.0, 1e3, 0.01, 40.0
"""Times in s at which the slope of an output in O is computed, each for all sizes of x."""


def peak_correction(problem: Problem, h: float, *, output: str | None = None) -> np.ndarray:
    """Return what peaks of coarse steps lack on average, to be added to `Result.peaks`.

    A peak is the largest absolute value at the coarse steps. An output that contains the process
    O(t) itself, and not only its integrals, is as rough as a Brownian path and has higher values
    between the steps. To leading order in sqrt(h) they are higher by 0.5826 s sqrt(h), where
    s = sqrt(c) |dy/dO| is the size of the output's white noise. The remaining error falls faster
    than sqrt(h); halve h to see it. For `excitation=`, c is that of the white noise in O, or its
    matrix for several components: C L L^T C^T of a filter, and 0 for records and spectra.

    Parameters
    ----------
    problem : rode.Problem
    h : coarse step in s, that of `solve`
    output : name of the only output that is corrected; None: all

    Returns
    -------
    array (outputs, sets)
        In units of the outputs, with a column for each set of parameters, so that
        ``result.peaks + rode.peak_correction(problem, h)`` are the corrected peaks. It is 0 for
        outputs without O, or with an O that is smooth, as they have a derivative in time: their
        peaks lack O(h^2).

    Raises
    ------
    TypeError, ValueError
        ValueError also if the slope dy/dO of an output in a rough component of O depends on t, x or
        O, as in y = x O, or is not 0 and the component has an envelope: then there is no constant
        correction.

    References
    ----------
    Broadie, Glasserman and Kou (1997), A continuity correction for discrete barrier options,
    Mathematical Finance 7, 325; Asmussen, Glynn and Pitman (1995), Annals of Applied Probability 5,
    875.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a rode.Problem, got {type(problem).__name__}")
    h = validation.check_positive("h", h)
    chosen = list(range(len(problem.outputs))) if output is None else [problem.index_of(output)]
    noise, shaped = _noise_of(problem)
    rough = np.diag(noise + shaped) > 0.0
    if not rough.any():  # O is smooth, and so are all outputs
        return np.zeros((len(chosen), problem.sets))
    sets = problem.parameters.T
    slopes = np.array([_slopes(problem, tuple(map(float, p)), chosen, rough) for p in sets])
    if (changing := np.einsum("soi,ij,soj->o", slopes, shaped, slopes) > 0.0).any():
        name = problem.outputs[chosen[int(np.argmax(changing))]]
        raise ValueError(
            f"the output {name!r} contains white noise with an envelope, whose peaks have no "
            "constant correction. Halve h until they do not change, or name another by output="
        )
    sigma: np.ndarray = OVERSHOOT * np.sqrt(h * np.einsum("soi,ij,soj->os", slopes, noise, slopes))
    return sigma


def _noise_of(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrices of the white noise in the components of O, without and with envelopes."""
    excitation = problem.excitation
    if excitation is None:
        return np.array([[problem.process.c]]), np.zeros((1, 1))
    total = np.zeros((2, excitation.components, excitation.components))
    for one in excitation.sources():
        noise = one.C @ one.L
        noise[np.abs(noise) <= 1e-12 * (np.abs(one.C) @ np.abs(one.L))] = 0.0
        total[int(one.envelope is not None)] += noise @ noise.T
    return total[0], total[1]


def _slopes(
    problem: Problem, p: tuple[float, ...], chosen: list[int], rough: np.ndarray
) -> np.ndarray:
    """Return dy/dO of chosen outputs, if it is the same everywhere; 0 for components not rough."""
    rng = np.random.default_rng(1)
    sizes = np.where(problem.deviations > 0.0, problem.deviations, 1.0)
    first, failure = None, None
    for t, scale_of_x in itertools.product(_TIMES, SIZES):
        x = tuple(map(float, scale_of_x * rng.standard_normal(problem.dimension)))
        o = rng.standard_normal(sizes.size)
        try:
            low, high = (
                np.array(
                    [
                        _outputs(problem, t, x, sizes * one, p)[chosen]
                        for one in (o + sign * np.eye(o.size))
                    ]
                )
                for sign in (-1.0, 1.0)
            )
        except ValueError as error:  # not defined there, as an exponential of a large x
            failure = error
            continue
        with np.errstate(all="ignore"):
            slope = np.where(rough, (high - low).T / (2.0 * sizes), 0.0)
            scale = (np.abs(high) + np.abs(low)).T / sizes
        is_finite = np.isfinite(slope)
        if scale_of_x != 1.0 and not is_finite.all():
            continue
        first = slope if first is None else first
        unequal = ~is_finite | (np.abs(slope - first) > 1e-9 * scale + 1e-300)
        if unequal.any():
            name = problem.outputs[chosen[int(np.argmax(unequal.any(axis=1)))]]
            raise ValueError(
                f"the output {name!r} depends on O in another way than a constant times O: its "
                "peaks have no constant correction. Halve h until they do not change"
            )
    if first is None:
        assert failure is not None
        raise failure
    return first


def _outputs(
    problem: Problem, t: float, x: tuple[float, ...], o: np.ndarray, p: tuple[float, ...]
) -> np.ndarray:
    """Return the outputs for the components o of O."""
    value = float(o[0]) if o.size == 1 else tuple(map(float, o))
    return np.array(call_uncompiled(problem, "observe", t=t, x=x, O=value, p=p), dtype=float)
