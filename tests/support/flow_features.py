"""Flows with features that parts of a domain must share, and that belong to the state of a flow.

Each is a function of the devices, the communicator and the decomposition that makes the flow.
"""

from functools import partial

import numpy as np

import lbm
from flows import FLOWS, SHAPE, noisy

STEPS = 5
TRT = lbm.TRT(0.7)
EDDIES = lbm.SyntheticEddies((0.05, 0.0, 0.0), intensity=0.2, length=1.5, seed=7)


def make(flow, collision=TRT, scalars=None, *, walls=None, shape=SHAPE, **options):
    """Make one of `FLOWS`, by its name, with another operator, scalars, or some other walls."""
    flow, (rho, u) = dict(FLOWS[flow]), noisy(shape)
    flow["boundaries"] = flow.get("boundaries", {}) | (walls or {})
    options = {"dtype": "float64"} | flow | options
    return lbm.Simulation(shape, collision=collision, scalars=scalars, rho=rho, u=u, **options)


def fields_of(s):
    """Return all fields of a flow, those of the whole domain, and what is computed from them."""
    fields = {"populations": s.gather(s.populations()), "u": s.gather("u"), "rho": s.gather("rho")}
    fields["momentum"] = s.momentum()
    for body in s.solids:
        fields |= {
            f"force {body}": s.force_on(body),
            f"torque {body}": s.torque_on(body, (5, 4, 3)),
        }
    for name in s.bodies:
        fields |= {
            f"force {name}": s.force_on(name),
            f"torque {name}": s.torque_on(name, (5, 4, 3)),
        }
        fields["fluid"] = s.gather(s.fluid * 1.0)
    for name, scalar in s.scalars.items():
        fields |= {name: s.gather(scalar.values), f"total {name}": scalar.total()}
        # The flow carries scalars through open faces: fluxes are known at solids and walls.
        walls = [wall for wall in scalar.scalar.boundaries if wall != "x-"]
        fields |= {f"flux of {name} at {wall}": scalar.flux(wall) for wall in walls}
    if isinstance(s.collision, lbm.EddyViscosityModel):
        s.eddy_viscosity.max()  # twice between two steps: parts exchange velocities each time
        fields["eddy viscosity"] = s.gather(s.eddy_viscosity)
    return fields


def run(name, **options):
    """Run one of `FEATURES` or `BY_MOMENTS`, and return its fields."""
    return fields_of((FEATURES | BY_MOMENTS)[name](**options).run(STEPS))


def heat(**values):
    """Return scalars of which one drives the flow; `values` are those at walls."""
    walls = {name.replace("_", "-"): lbm.FixedValue(value) for name, value in values.items()}
    return {
        "heat": lbm.Scalar(0.05, walls, start=0.1, buoyancy=(1e-3, 2e-3, 0.0)),
        "salt": lbm.Scalar(0.02, {name: lbm.FixedValue(0.0) for name in walls if "-" in name},
                           start=lambda x, y, z: np.sin(x) + np.cos(y + z)),
    }  # fmt: skip


MOVING = {
    "ball": lbm.Solid(lbm.Sphere((0.7, 2.2, 2.6), 1.3), motion=lbm.Translation((0.2, 0.05, 0.1))),
    "bar": lbm.Solid(lbm.Box((4, 4, 2), (7, 7, 5)), wall="interpolated", motion=(
        lbm.Rotation((5.6, 5.4, 3.2), (0.3, 0.2, 1.0), 0.02), lbm.Translation((-0.1, 0.0, 0.05)))),
}  # fmt: skip
"""Two bodies that move through the borders of all parts, one of them through a periodic face."""

FEATURES = {
    "Vreman": partial(make, "cavity with bodies", lbm.Vreman(0.51, constant=2.0, every=3)),
    "D3Q27": partial(make, "cavity with bodies", lattice=lbm.D3Q27),
    "driven in time": partial(make, "driven in time"),
    "synthetic eddies": partial(make, "open channel", walls={"x-": lbm.VelocityInlet(EDDIES)}),
    "synthetic eddies, Vreman": partial(
        make, "open channel", lbm.Vreman(0.6, constant=2.0, every=2),
        walls={"x-": lbm.NonReflectingInlet(EDDIES, averaging=20.0)},
    ),
    "interpolated walls": partial(make, "interpolated walls", scalars=heat(ball=0.5, rod=-0.5)),
    "inlets that do not reflect": partial(make, "inlets that do not reflect"),
    "outlets that do not reflect": partial(make, "outlets that do not reflect"),
    "free streams": partial(make, "free streams", scalars=heat(z_=0.5)),
    "modelled walls": partial(make, "free streams", lbm.SmagorinskyBGK(0.501), walls={
        "ball": lbm.Solid(lbm.Sphere((8.3, 3.2, 3.1), 1.2), wall="modelled"),
    }),
    "condition of a user": partial(make, "condition of a user"),
    "sponges": partial(make, "sponges", scalars=heat(x_=0.5)),
    "scalars, Vreman": partial(make, "open channel", lbm.Vreman(0.6, constant=2.0, every=2),
                               scalars=heat(x_=0.5, still=-0.5)),
    "moving bodies": partial(make, "periodic", shape=(16, 11, 12),
                             walls={"post": lbm.Solid(lbm.Box((12, 0, 0), (14, 3, 12)))} | MOVING,
                             scalars=heat(bar=0.5)),
    "scalars in a cavity": partial(make, "cavity with bodies", scalars={
        "heat": lbm.Scalar(0.05, {"moving": lbm.FixedValue(0.5), "y-": lbm.FixedFlux(0.01),
                                  "x+": lbm.FixedValue(-0.5)}, buoyancy=(1e-3, 2e-3, 0.0)),
    }),
}  # fmt: skip
"""Functions of the devices and of the decomposition, by what their flows have."""


by_moments = partial(make, collision=lbm.RecursiveRegularized(0.6), state="moments",
                     shape=(16, 10, 11))  # fmt: skip
BALL = {"ball": lbm.Solid(lbm.Sphere((8.3, 5.1, 5.2), 2.6))}
BY_MOMENTS = {
    "moments": partial(
        by_moments, "periodic", walls=BALL | {"z-": lbm.NoSlip(), "y": lbm.NoSlip(),
                                              "z+": lbm.MovingWall((0.05, 0.02, 0.0))},
        scalars=heat(z_=0.5), sponges={"z+": lbm.Sponge(5, reflection=0.2)},
    ),
    "moments, free streams": partial(
        by_moments, "free streams", walls=BALL | {"still": lbm.Solid(lbm.Sphere((3, 3, 9), 1.5))},
    ),
    "moments, interpolated walls": partial(
        by_moments, "interpolated walls", collision=lbm.VremanRecursive(0.6, every=2),
    ),
    "moments, periodic": partial(by_moments, "periodic", walls=BALL),
    "moments, ranks without walls": partial(by_moments, "periodic", walls={"z": lbm.NoSlip()}),
}  # fmt: skip
"""Those whose state is moments, which are cut across z only; cuts go through the ball."""
