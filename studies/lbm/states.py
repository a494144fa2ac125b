"""Ten moments instead of populations: the same flows in both states, and the errors of 16 bits.

Flows of the first table have all features that go with moments. A thousand steps of both states
should differ by rounding (Gounley et al. 2021 store moments). The second table has the differences
of both states in 16 bits from populations in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import lbm
from studies.study import Study

BOX = 24, 20, 16
"""Cells of a flow of the first table."""

STEPS = 1000
"""Steps of a flow of the first table; a single one if the study is quick."""

_INLET, _STREAM = lbm.VelocityInlet((0.05, 0.0, 0.0)), (0.05, 0.01, 0.0)
_LID = {"z": lbm.NoSlip(), "y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.1, 0.0, 0.0))}
_CAVITY = _LID | {"x": lbm.NoSlip()}
_CHANNEL = {"x-": _INLET, "x+": lbm.PressureOutlet(), "y": lbm.FreeSlip()}


def _ball(condition: Any = None, wall: str = "halfway") -> dict[str, lbm.Solid]:
    shape = lbm.Sphere((9.2, 9.9, 8.1), 3.3)
    return {"ball": lbm.Solid(shape, condition or lbm.NoSlip(), wall=wall)}


def _spin(x: Any, y: Any, z: Any, t: float) -> tuple[Any, ...]:
    rate = 0.01 * np.cos(0.01 * t)
    return -rate * (y - 9.9), rate * (x - 9.2), 0.0 * z


FLOWS: dict[str, dict[str, Any]] = {
    "force in a periodic box with a body": {
        "collision": lbm.Regularized(0.6), "boundaries": _ball(), "force": (1e-5, 2e-6, -3e-6),
    },
    "lid and a wall that moves": {
        "collision": lbm.CentralMoments(0.6),
        "boundaries": _CAVITY | _ball(lbm.MovingWall((0.0, 0.01, 0.0))),
    },
    "inlet and outlet": {
        "collision": lbm.RecursiveRegularized(0.55), "boundaries": _CHANNEL | _ball(),
    },
    "all driven in time": {
        "collision": lbm.SmagorinskyRecursive(0.55),
        "boundaries": _ball(lbm.MovingWall(_spin)) | {
            "x-": lbm.VelocityInlet(lambda t: (0.05, 0.01 * np.cos(0.02 * t), 0.0)),
            "x+": lbm.PressureOutlet(lambda t: 1.0 + 0.002 * np.sin(0.01 * t)),
            "y": lbm.MovingWall(lambda x, y, z: (0.02 * np.sign(x - 12.2), 0.0, 0.0)),
        },
        "force": lambda t: (1e-5 * np.cos(0.01 * t), 0.0, 2e-6),
    },
    "interpolated walls": {
        "collision": lbm.VremanRecursive(0.55),
        "boundaries": _CHANNEL | _ball(lbm.MovingWall(_spin), "interpolated"),
    },
    "ends that do not reflect": {
        "collision": lbm.RecursiveRegularized(0.6),
        "boundaries": _ball() | {
            "x-": lbm.NonReflectingInlet((0.05, 0.0, 0.0), averaging=100.0),
            "x+": lbm.NonReflectingOutlet(averaging=100.0), "y": lbm.NoSlip(),
        },
    },
    "free streams": {
        "collision": lbm.VremanRecursive(0.55, every=3),
        "boundaries": _ball(None, "interpolated") | {
            "x-": lbm.FreeStream(_STREAM), "y-": lbm.FreeStream(_STREAM),
            "x+": lbm.NonReflectingOutlet(), "y+": lbm.NonReflectingOutlet(),
        },
        "u": _STREAM,
    },
    "sponges": {
        "collision": lbm.RecursiveRegularized(0.55), "boundaries": _CHANNEL | _ball(),
        "sponges": {"x-": lbm.Sponge(5, reflection=0.1),
                    "x+": lbm.Sponge(6, reflection=0.2, averaging=50.0)},
        "u": (0.05, 0.0, 0.0),
    },
    "modelled walls": {
        "collision": lbm.VremanCentralMoments(0.55), "u": (0.05, 0.0, 0.0),
        "boundaries": _ball(None, "modelled") | {
            "x-": _INLET, "x+": lbm.NonReflectingOutlet(), "y": lbm.FreeStream((0.05, 0.0, 0.0)),
        },
    },
    "lid, buoyancy, force and sponge": {
        "collision": lbm.RecursiveRegularized(0.6), "lattice": "D3Q27",
        "boundaries": _LID | {"x-": _INLET, "x+": lbm.PressureOutlet()} | _ball(),
        "scalars": {"heat": lbm.Scalar(
            0.05, {"x-": lbm.FixedValue(0.5), "y-": lbm.FixedValue(1.0), "y+": lbm.FixedValue(0.0)},
            buoyancy=(0.0, 1e-4, 0.0),
        )},
        "sponges": {"x+": lbm.Sponge(6, reflection=0.2, averaging=50.0)},
        "force": (1e-6, 0.0, 2e-6), "u": (0.05, 0.0, 0.0),
    },
}  # fmt: skip
"""Arguments of `lbm.Simulation` by what a flow has."""


def run(study: Study) -> dict:
    """Compare both states in all flows, and the errors of 16 bits."""
    flows = dict([*FLOWS.items()][: 2 if study.quick else None])
    rows = study.table(
        f"Largest difference of density and velocity from populations after {STEPS} steps",
        ["flow", "operator", "lattice", "largest speed", "float64", "float32"],
        (compare_states(study, name, settings) for name, settings in flows.items()),
    )
    study.table(
        "Differences of 16 bits from float64 over the largest speed",
        ["flow", "steps", "moments, largest", "rms", "populations, largest", "rms of these"],
        measure_halves(study),
    )
    heads = ["steps", "float64", "moments of 16 bits", "populations of 16 bits"]
    study.table("Drag of a sphere with 10 cells across", heads, [measure_drags(study)])
    return {"float64": max(row[-2] for row in rows), "float32": max(row[-1] for row in rows)}


def compare_states(study: Study, name: str, settings: dict[str, Any]) -> tuple:
    """Return a row: a flow, its operator, lattice and largest speed, and differences of states."""
    differences = []
    for dtype in "float64", "float32":
        populations, moments = (
            lbm.Simulation(BOX, state=state, dtype=dtype, device=study.device, **settings)
            .run(1 if study.quick else STEPS)
            for state in ("populations", "moments")
        )  # fmt: skip
        fields = ((s.rho, *s.u) for s in (populations, moments))
        differences.append(max(float(np.abs(a - b).max()) for a, b in zip(*fields, strict=True)))
    speed = float(np.sqrt((populations.u**2).sum(axis=0)).max())
    operator = type(settings["collision"]).__name__
    return name, operator, populations.problem.lattice.name, speed, *differences


def _in_16_bits(device: Any, shape: tuple[int, ...], **settings: Any) -> list[lbm.Simulation]:
    """Return a flow in float64, and by moments and populations in 16 bits."""
    halves: dict[str, Any] = {"storage": "float16"}
    forms = {"dtype": "float64"}, halves | {"state": "moments"}, halves
    return [lbm.Simulation(shape, device=device, **settings, **form) for form in forms]


def measure_halves(study: Study) -> Iterator[tuple]:
    """Yield rows (flow, steps, largest and rms difference of moments, of populations)."""
    n, speed = 24, 0.05
    phase = 2.0 * np.pi * (np.arange(n) + 0.5) / n
    x, y, z = phase[:, None, None], phase[:, None], phase
    u = np.zeros((3, n, n, n))
    u[0] = speed * np.sin(x) * np.cos(y) * np.cos(z)
    u[1] = -speed * np.cos(x) * np.sin(y) * np.cos(z)
    cases: tuple[tuple[str, int, dict[str, Any]], ...] = (
        ("Taylor-Green vortices", 600, {"u": u}),
        ("lid-driven cavity", 2000, {"boundaries": _CAVITY}),
    )
    for name, steps, settings in cases:
        steps = 1 if study.quick else steps
        flows = _in_16_bits(study.device, (n, n, n), collision=lbm.RecursiveRegularized(0.55),
                            **settings)  # fmt: skip
        exact, *others = (flow.run(steps).u for flow in flows)
        scale = speed if "u" in settings else 0.1
        shares = [np.abs(other - exact) / scale for other in others]
        yield name, steps, *(f(e) for e in shares for f in (_largest, _rms))


def _largest(values: np.ndarray) -> float:
    return float(values.max())


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt((values**2).mean()))


def measure_drags(study: Study) -> tuple:
    """Return a row: steps, and the mean drag of a sphere in the last fifth of them in each form."""
    shape = 64, 32, 32
    ball = lbm.Solid(lbm.Sphere((20.0, 16.0, 16.0), 5.0))
    walls = {"x-": _INLET, "x+": lbm.PressureOutlet(), "y": lbm.FreeSlip(), "z": lbm.FreeSlip(),
             "ball": ball}  # fmt: skip
    steps = 5 if study.quick else 2000
    drags = []
    for s in _in_16_bits(study.device, shape, collision=lbm.RecursiveRegularized(0.55),
                         boundaries=walls, u=(0.05, 0.0, 0.0)):  # fmt: skip
        s.run(steps - steps // 5)
        forces = [s.run(1).force_on("ball")[0] for _ in range(steps // 5)]
        drags.append(float(np.mean(forces)) / (0.5 * 0.05**2 * np.pi * 5.0**2))
    return steps, *drags
