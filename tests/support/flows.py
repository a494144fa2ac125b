"""Flows for several tests of lbm. A force of 1e-300 is lost: it takes code compiled for others."""

import numpy as np

import lbm
from lbm.lattices import D3Q19
from lbm.reference import Reference
from tank_outlet import TankOutlet

SHAPE = (12, 9, 7)

PATTERNS = "ab", "aa", "esoteric"

FORMS = {"float64": {"dtype": "float64"}, "float32": {}, "float16": {"storage": "float16"}}
"""Arguments of `Simulation` by the type of the stored populations."""

TOLERANCE = {"float64": 5e-15, "float32": 3e-7, "float16": 2e-4}
"""Rounding in a few steps: eps of float64 and float32, 2^-11 of the largest shifted population."""


def _obstacle():
    cells = np.zeros(SHAPE, bool)
    cells[4:6, 3:5, 2:4] = cells[8, :2, 5] = cells[3, 4:6, 0] = True
    return cells


def _second_obstacle():
    return np.roll(_obstacle(), 4, 0) & ~_obstacle()


def _changing_rotation(x, y, z, t):
    rate = 0.01 * np.cos(t)
    return -rate * (y - 4), rate * (x - 5), 0.0


def _spin(x, y, z):
    return -0.01 * (y - 4.4), 0.01 * (x - 4.1), 0.0


STILL = lbm.Solid(_obstacle())
STREAM = lbm.VelocityInlet((0.05, 0.0, 0.0))

FLOWS = {
    "periodic": {"force": (1e-4, 2e-5, -3e-5)},
    "cavity with bodies": {
        "boundaries": {
            "x": lbm.NoSlip(), "y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.1, 0.0, 0.0)),
            "z": lbm.NoSlip(), "still": STILL,
            # The velocity suits the cells at rest that touch the body: together they keep mass.
            "moving": lbm.Solid(_second_obstacle(), lbm.MovingWall((0.02, 0.02, -0.03))),
        },
        "force": (1e-4, 0.0, 2e-5),
    },
    "open channel": {
        "boundaries": {"x-": STREAM, "x+": lbm.PressureOutlet(1.0), "y": lbm.FreeSlip(),
                       "still": STILL},
        "force": (0.0, 1e-5, 0.0),
    },
    "interpolated walls": {
        "boundaries": {
            "y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.02, 0.0, 0.01)),
            # One cell lies between the two, and the second one passes through a face.
            "ball": lbm.Solid(lbm.Sphere((4.1, 4.4, 3.3), 2.1), lbm.MovingWall(_spin),
                              wall="interpolated"),
            "rod": lbm.Solid(lbm.Cylinder((8.2, 3.4), 1.3, axis="y"),
                             lbm.MovingWall(_changing_rotation), wall="interpolated"),
        },
        "force": (1e-4, 0.0, 2e-5),
    },
    # Few different walls: more than 255 would compile every kernel again, for larger indices.
    "driven in time": {
        "boundaries": {
            "x-": lbm.VelocityInlet(lambda t: (0.01 * np.cos(t), 0.01, 0.0)),
            "x+": lbm.PressureOutlet(lambda t: 1.0 + 0.01 * np.sin(t)),
            "y": lbm.MovingWall(lambda x, y, z: (0.02 * np.sign(x - 5.2), 0.0, 0.0)),
            "moving": lbm.Solid(_obstacle(), lbm.MovingWall(_changing_rotation)),
        },
        "force": lambda t: (1e-4 * np.cos(t), 0.0, 2e-5),
    },
    "sponges": {
        "boundaries": {"x-": STREAM, "x+": lbm.PressureOutlet(1.01), "y": lbm.FreeSlip(),
                       "still": STILL},
        "sponges": {
            "x-": lbm.Sponge(5, reflection=0.1),
            "x+": lbm.Sponge(6, reflection=0.2, averaging=20.0),
            "y-": lbm.Sponge(4, u=lambda x, y, z: (0.01 * x, 0.01, 0.0 * z), reflection=0.3),
            "y+": lbm.Sponge(5, rho=1.02, reflection=0.3, averaging=3.0),
        },
        "force": (0.0, 1e-4, 0.0),
    },
    "outlets that do not reflect": {
        "boundaries": {
            "x-": STREAM, "x+": lbm.NonReflectingOutlet(1.01, averaging=20.0),
            "y-": lbm.FreeSlip(), "y+": lbm.NonReflectingOutlet(),
            "z-": lbm.NoSlip(), "z+": lbm.PressureOutlet(0.99), "still": STILL,
        },
        "force": (0.0, 1e-5, 0.0),
    },
    "inlets that do not reflect": {
        "boundaries": {
            "x-": lbm.NonReflectingInlet((0.05, 0.01, 0.0), averaging=20.0),
            "x+": lbm.PressureOutlet(1.01),
            "y-": lbm.FreeSlip(), "y+": lbm.NonReflectingOutlet(averaging=30.0),
            "z-": lbm.NonReflectingInlet(lambda t: (0.0, 0.0, 0.01 * np.cos(t)), averaging=5.0),
            "z+": lbm.NoSlip(), "still": STILL,
        },
        "force": (0.0, 1e-5, 0.0),
    },
    "free streams": {
        "boundaries": {
            "x-": lbm.FreeStream((0.05, 0.01, 0.0)),
            "x+": lbm.NonReflectingOutlet(1.01, averaging=20.0),  # it meets a wall and two streams
            "y-": lbm.FreeSlip(), "y+": lbm.FreeStream(lambda t: (0.05, 0.01 * np.cos(t), 0.0)),
            "z-": lbm.NoSlip(), "z+": lbm.FreeStream(lambda x, y, z: (0.05 + 0.001 * y, 0.01, 0.0)),
            "still": STILL,
            "ball": lbm.Solid(lbm.Sphere((8.3, 3.2, 3.1), 1.2), wall="interpolated"),
        },
        "force": (0.0, 1e-5, 0.0),
    },
    "condition of a user": {
        "boundaries": {"x-": STREAM, "x+": TankOutlet(1.01, capacity=5.0),
                       "y-": TankOutlet(resistance=0.2), "y+": lbm.FreeSlip(), "z": lbm.NoSlip(),
                       "still": STILL},
        "force": (0.0, 1e-5, 0.0),  # as other flows: steps without one would be compiled for it
    },
    "slip in two directions": {
        "boundaries": {"y": lbm.FreeSlip(), "z": lbm.FreeSlip()}, "force": (1e-5, 0.0, 0.0),
    },
}  # fmt: skip


PLAIN = ["periodic", "cavity with bodies", "open channel"]
"""Flows with nothing but walls and open faces."""

OTHERS = [flow for flow in FLOWS if flow not in PLAIN]


def noisy(shape, seed=1):
    """Return an initial (rho, u): near rest, different in every cell."""
    rng = np.random.default_rng(seed)
    rho = 1.0 + 0.01 * rng.standard_normal(shape)
    return rho, 0.02 * rng.standard_normal((3, *shape))


def pair(flow, collision, lattice=D3Q19, **options):
    """Return a simulation and the reference with the same noisy start."""
    return pair_in(SHAPE, {"collision": collision, "lattice": lattice, **FLOWS[flow]}, **options)


def pair_in(shape, settings, **options):
    """Return a simulation and the reference with the same noisy start in a box of any shape.

    `settings` are arguments of both, `options` of the simulation only.
    """
    rho, u = noisy(shape)
    settings = {"collision": lbm.TRT(0.7)} | settings
    ours = lbm.Simulation(shape, rho=rho, u=u, **settings, **options)
    theirs = Reference(shape, **settings)
    theirs.set(rho, u)
    return ours, theirs


def difference(ours, theirs):
    """Return the largest difference of a simulation from the reference in density and velocity."""
    rho, u = theirs.moments()
    return max(np.abs(ours.rho - rho).max(), np.abs(ours.u - u).max())


def follow(ours, theirs, steps, tolerance=TOLERANCE["float64"]):
    """Do steps of a simulation and of the reference, and compare them after each."""
    for _ in range(steps):
        ours.run(1)
        theirs.step()
        assert difference(ours, theirs) < tolerance


def on_parts(grid, device="cpu"):
    """Return the arguments of `Simulation` for a grid of parts on a device."""
    return {"device": [device] * int(np.prod(grid)), "decomposition": grid}


def wave(n, k=1, speed=0.02, nz=2):
    """Return (shape, rho, u) of Taylor-Green vortices in x and y."""
    phase = 2 * np.pi * k * (np.arange(n) + 0.5) / n
    x, y = phase[:, None, None], phase[None, :, None]
    u = np.zeros((3, n, n, nz))
    u[0], u[1] = speed * np.cos(x) * np.sin(y), -speed * np.sin(x) * np.cos(y)
    rho = 1.0 - 0.75 * speed**2 * (np.cos(2 * x) + np.cos(2 * y)) + np.zeros((n, n, nz))
    return (n, n, nz), rho, u


UNITS = """[units]
length = 0.012
cells = 12
speed = 0.01
viscosity = 1e-6
"""
"""Units of case files: water in a channel of 12 cells."""


def random_walls(rng, shape):
    """Return random conditions of some faces and of two random solids."""

    def condition(normal=None):
        along = [0.0 if axis == normal else v for axis, v in enumerate(rng.uniform(-0.05, 0.05, 3))]
        choices = [
            lbm.NoSlip(), lbm.MovingWall(along), lbm.VelocityInlet((0.03, 0.01, -0.02)),
            lbm.PressureOutlet(1.01),
        ]  # fmt: skip
        if normal is not None:
            choices.append(lbm.FreeSlip())
        return choices[rng.integers(len(choices))]

    walls = {}
    for axis, name in enumerate("xyz"):
        if rng.random() < 0.85:
            walls |= {f"{name}-": condition(axis), f"{name}+": condition(axis)}
    where = rng.random(shape)
    walls |= {"one": lbm.Solid(where < 0.1, condition())}
    # Fluid that enters must be able to leave.
    outlet = lbm.PressureOutlet(0.99)
    return walls | {"other": lbm.Solid((where > 0.1) & (where < 0.2), outlet)}


def case_text(shape, steps, rest):
    """Return a case file with `UNITS`, of which `rest` has the tables behind them."""
    return f"shape = {list(shape)}\nsteps = {steps}\n\n{UNITS}\n{rest}"
