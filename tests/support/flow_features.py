"""Flows with features that parts of a domain must share: models, walls, ends, scalars.

Each is a function of the device, the communicator and the decomposition that returns all fields of
the flow after a few steps, those of the whole domain.
"""

from functools import partial

import numpy as np

import lbm
from flows import FLOWS, SHAPE, noisy

STEPS = 5
TRT = lbm.TRT(0.7)
EDDIES = lbm.SyntheticEddies((0.05, 0.0, 0.0), intensity=0.2, length=1.5, seed=7)


def run(boundaries, collision=TRT, scalars=None, *, inlet=None, **options):
    """Run one of `FLOWS`, by its name, with another operator, scalars, or another inlet at x-."""
    flow, (rho, u) = dict(FLOWS[boundaries]), noisy(SHAPE)
    if inlet is not None:
        flow["boundaries"] = flow["boundaries"] | {"x-": inlet}
    s = lbm.Simulation(SHAPE, collision=collision, scalars=scalars, rho=rho, u=u, dtype="float64",
                       **flow, **options).run(STEPS)  # fmt: skip
    fields = {"populations": s.gather(s.populations()), "u": s.gather("u"), "rho": s.gather("rho")}
    for body in s.solids:
        fields |= {
            f"force {body}": s.force_on(body),
            f"torque {body}": s.torque_on(body, (5, 4, 3)),
        }
    for name, scalar in s.scalars.items():
        fields |= {name: s.gather(scalar.values), f"total {name}": scalar.total()}
    if isinstance(collision, lbm.EddyViscosityModel):
        s.eddy_viscosity.max()  # twice between two steps: parts exchange velocities each time
        fields["eddy viscosity"] = s.gather(s.eddy_viscosity)
    return fields


def heat(**values):
    """Return scalars of which one drives the flow; `values` are those at walls."""
    walls = {name.replace("_", "-"): lbm.FixedValue(value) for name, value in values.items()}
    return {
        "heat": lbm.Scalar(0.05, walls, start=0.1, buoyancy=(1e-3, 2e-3, 0.0)),
        "salt": lbm.Scalar(0.02, {name: lbm.FixedValue(0.0) for name in walls if "-" in name},
                           start=lambda x, y, z: np.sin(x) + np.cos(y + z)),
    }  # fmt: skip


FEATURES = {
    "Smagorinsky": partial(run, "cavity with bodies", lbm.Smagorinsky(0.51, constant=0.2)),
    "Vreman": partial(run, "cavity with bodies", lbm.Vreman(0.51, constant=2.0, every=3)),
    "Vreman, BGK, D3Q27": partial(run, "open channel", lbm.VremanBGK(0.51, constant=2.0, every=2),
                                  lattice=lbm.D3Q27),
    "recursive regularized": partial(run, "cavity with bodies", lbm.RecursiveRegularized(0.6)),
    "central moments": partial(run, "cavity with bodies", lbm.CentralMoments(0.6)),
    "D3Q27": partial(run, "cavity with bodies", lattice=lbm.D3Q27),
    "central moments, D3Q27": partial(run, "periodic", lbm.CentralMoments(0.6), lattice=lbm.D3Q27),
    "synthetic eddies": partial(run, "open channel", inlet=lbm.VelocityInlet(EDDIES)),
    "synthetic eddies, Vreman": partial(run, "open channel", lbm.Vreman(0.6, constant=2.0, every=2),
                                        inlet=lbm.NonReflectingInlet(EDDIES, averaging=20.0)),
    "interpolated walls": partial(run, "interpolated walls", scalars=heat(ball=0.5, rod=-0.5)),
    "inlets that do not reflect": partial(run, "inlets that do not reflect"),
    "outlets that do not reflect": partial(run, "outlets that do not reflect"),
    "sponges": partial(run, "sponges", scalars=heat(x_=0.5)),
    "scalars, Vreman": partial(run, "open channel", lbm.Vreman(0.6, constant=2.0, every=2),
                               scalars=heat(x_=0.5, still=-0.5)),
}  # fmt: skip
"""Functions of the devices and of the decomposition, by what their flows have."""
