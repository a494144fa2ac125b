"""Runs flows on several ranks and saves what rank 0 gathers: `mpiexec -n N rank_worker.py OUT`."""

import sys
from pathlib import Path

import numpy as np

import lbm
from covering import cover_pairs
from flows import FLOWS, SHAPE, noisy, pair
from lbm._fields.wall_shear import wall_shear_fields

FORMS = {
    "float64": {"dtype": "float64"},
    "float32": {"dtype": "float32"},
    "float16": {"dtype": "float32", "storage": "float16"},
}
PATTERNS = "ab", "aa", "esoteric"
GRIDS = {2: (2, 1, 1), 3: (1, 3, 1), 4: (2, 1, 2)}
"""Grids for half of the flows; the others use "auto"."""

STEPS = 5


def cases():
    """Return (flow, pattern, form) of all cases, in which every pair of two of them occurs."""
    return cover_pairs(FLOWS, PATTERNS, FORMS)


def corner_cases():
    """Yield (flow, pattern, form) of the cases on the lattice D3Q27."""
    yield "cavity with bodies", "esoteric", "float64"
    yield "interpolated walls", "aa", "float64"
    yield "periodic", "ab", "float64"


def run_flow(flow, pattern, form, folder=None, **options):
    """Run a flow, and return all that a user can read from it."""
    s, _ = pair(flow, lbm.TRT(0.7), pattern=pattern, **FORMS[form], **options)
    statistics, probe = lbm.Statistics(1), lbm.Probe([(0, 8, 6), (11, 0, 1)])
    steady = lbm.SteadyState(1e-12, 2)
    s.run(STEPS, callbacks=[statistics, probe, steady])
    result = {
        "populations": s.gather(s.populations()),
        "u": s.gather("u"),
        "rho": s.gather("rho"),
        "fluid": s.gather("fluid"),
        "mean": s.gather(statistics.mean_u),
        "variance": s.gather(statistics.variance_rho),
        "probe": np.array(probe.values),
        "change": steady.change,
        "momentum": s.momentum(),
    }
    stress, y_plus = wall_shear_fields(s)
    result |= {"wall shear": s.gather(stress), "y+": s.gather(y_plus)}
    for body in s.solids:
        result[f"force {body}"] = s.force_on(body)
        result[f"torque {body}"] = s.torque_on(body, (5, 4, 3))
    if folder is not None:
        s.save(folder / f"{flow} {pattern} {form}.state")
    return result


def run_interpolated_scalar(**options):
    """Run a flow with a scalar at interpolated walls."""
    walls = {"ball": lbm.FixedValue(0.5), "rod": lbm.FixedValue(-0.5)}
    scalars = {"heat": lbm.Scalar(0.05, walls, start=0.1, buoyancy=(1e-3, 2e-3, 0.0))}
    flow = FLOWS["interpolated walls"]
    s = lbm.Simulation(SHAPE, collision=lbm.TRT(0.7), scalars=scalars, **flow, **options).run(STEPS)
    heat = s.scalars["heat"]
    return {"values": s.gather(heat.values), "u": s.gather("u"), "total": heat.total(),
            "fluxes": [heat.flux(name) for name in walls]}  # fmt: skip


def run_scalars(folder=None, **options):
    """Run a flow that two scalars ride on, one of which drives it."""
    walls = {"moving": lbm.FixedValue(0.5), "y-": lbm.FixedFlux(0.01), "x+": lbm.FixedValue(-0.5)}
    scalars = {
        "salt": lbm.Scalar(0.02, start=lambda x, y, z: np.sin(x) + np.cos(y + z)),
        "heat": lbm.Scalar(0.05, walls, start=0.1, buoyancy=(1e-3, 2e-3, 0.0)),
    }
    flow = FLOWS["cavity with bodies"]
    s = lbm.Simulation(SHAPE, collision=lbm.TRT(0.7), scalars=scalars, **flow, **options).run(STEPS)
    result = {"populations": s.gather(s.populations()), "u": s.gather("u")}
    for name, field in s.scalars.items():
        result[name], result[f"total {name}"] = s.gather(field.values), field.total()
    result |= {f"flux {wall}": s.scalars["heat"].flux(wall) for wall in walls}
    if folder is not None:
        s.save(folder / "scalars.state")
    return result


def run_eddies(folder=None, **options):
    """Run a flow with a subgrid model whose viscosity is a field."""
    operator, (rho, u) = lbm.Vreman(0.51, constant=2.0, every=3), noisy(SHAPE)
    s = lbm.Simulation(SHAPE, collision=operator, rho=rho, u=u, **FLOWS["cavity with bodies"],
                       **options)  # fmt: skip
    first = s.gather(s.eddy_viscosity)
    s.run(STEPS)
    if folder is not None:
        s.save(folder / "eddies.state")
    return {"first": first, "last": s.gather(s.eddy_viscosity), "u": s.gather("u")}


def main(folder):
    """Run all cases and what else needs several ranks."""
    from mpi4py import MPI  # its import starts MPI, which the tests themselves must not

    comm = MPI.COMM_WORLD
    for k, (flow, pattern, form) in enumerate(cases()):
        grid = GRIDS[comm.size] if k % 2 else "auto"
        result = run_flow(flow, pattern, form, folder, comm=comm, decomposition=grid, device="cpu")
        if comm.rank == 0:
            np.savez(folder / f"{flow} {pattern} {form}.npz", **result)
    for case in corner_cases():
        result = run_flow(*case, comm=comm, decomposition=GRIDS[comm.size], device="cpu",
                          lattice=lbm.D3Q27)  # fmt: skip
        if comm.rank == 0:
            np.savez(folder / f"{case[0]} D3Q27.npz", **result)
    result = run_scalars(folder, comm=comm, decomposition=GRIDS[comm.size], device="cpu")
    if comm.rank == 0:
        np.savez(folder / "scalars.npz", **result)
    result = run_interpolated_scalar(comm=comm, decomposition=GRIDS[comm.size], device="cpu")
    if comm.rank == 0:
        np.savez(folder / "interpolated scalar.npz", **result)
    result = run_eddies(folder, comm=comm, decomposition=GRIDS[comm.size], device="cpu")
    if comm.rank == 0:
        np.savez(folder / "eddies.npz", **result)
    s, _ = pair("cavity with bodies", lbm.TRT(0.7), dtype="float64", comm=comm, device="cpu")
    s.restore(folder / "one rank.state")
    s.run(2)
    populations = s.gather(s.populations())
    s.write_vtk(folder / "flow", derived=("vorticity", "q"))
    fast = np.zeros((3, *SHAPE))
    fast[0, 3, 4, 5] = 0.45
    unstable = lbm.Simulation(SHAPE, collision=lbm.TRT(0.5001), u=fast, comm=comm, device="cpu")
    try:
        unstable.run(400)
        message = "it was stable"
    except lbm.UnstableError as error:
        message = f"{error.step} {error.cell}"
    messages = comm.gather(message)
    if comm.rank == 0:
        np.savez(folder / "others.npz", populations=populations, messages=messages, steps=s.steps)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
