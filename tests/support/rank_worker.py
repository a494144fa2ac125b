"""Runs flows on several ranks and saves what rank 0 gathers: `mpiexec -n N rank_worker.py OUT`."""

import sys
from pathlib import Path

import numpy as np

import lbm
from covering import cover_pairs
from flows import FORMS, PATTERNS, PLAIN, SHAPE, pair

GRIDS = {2: (2, 1, 1), 4: (2, 1, 2)}
"""Grids for half of the flows; the others use "auto"."""

CASES = cover_pairs([*PLAIN, "slip in two directions"], PATTERNS, FORMS, GRIDS)
"""(flow, pattern, form, ranks) of all cases, in which every pair of two of them occurs.

The other flows are those of `flow_features`, which `test_features` runs on two to four ranks.
"""

STEPS = 5


def run_flow(flow, pattern, form, folder=None, **options):
    """Run a flow, and return all that a user can read from it."""
    s, _ = pair(flow, lbm.TRT(0.7), pattern=pattern, **FORMS[form], **options)
    statistics, probe = lbm.Statistics(1), lbm.Probe([(0, 8, 6), (11, 0, 1)])
    steady = lbm.SteadyState(1e-12, 2)
    s.run(STEPS, callbacks=[statistics, probe, steady])
    result = {
        "populations": s.gather(s.populations()), "u": s.gather("u"), "rho": s.gather("rho"),
        "fluid": s.gather("fluid"), "mean": s.gather(statistics.mean_u),
        "variance": s.gather(statistics.variance_rho), "probe": np.array(probe.values),
        "change": steady.change, "momentum": s.momentum(),
    }  # fmt: skip
    for body in s.solids:
        result[f"force {body}"] = s.force_on(body)
        result[f"torque {body}"] = s.torque_on(body, (5, 4, 3))
    if folder is not None:
        s.save(folder / f"{flow} {pattern} {form}.state")
    return result


def run_unstable(**options):
    """Return where and when a flow blows up."""
    fast = np.zeros((3, *SHAPE))
    fast[0, 3, 4, 5] = 0.45
    s = lbm.Simulation(SHAPE, collision=lbm.TRT(0.5001), u=fast, device="cpu", **options)
    try:
        s.run(400)
    except lbm.UnstableError as error:
        return f"{error.step} {error.cell}"


def main(folder):
    """Run the cases of this number of ranks, and what else needs several."""
    from mpi4py import MPI  # its import starts MPI, which the tests themselves must not

    comm = MPI.COMM_WORLD
    for k, (flow, pattern, form, count) in enumerate(CASES):
        if count != comm.size:
            continue
        grid = GRIDS[count] if k % 2 else "auto"
        result = run_flow(flow, pattern, form, folder, comm=comm, decomposition=grid, device="cpu")
        if comm.rank == 0:
            np.savez(folder / f"{flow} {pattern} {form}.npz", **result)
    s, _ = pair("cavity with bodies", lbm.TRT(0.7), dtype="float64", comm=comm, device="cpu")
    s.restore(folder / "one rank.state")
    s.run(2)
    populations = s.gather(s.populations())
    s.write_vtk(folder / "flow", derived=("vorticity", "q", "wall_shear"))
    figure = s.plot("z")
    assert (figure is None) == (comm.rank > 0)
    messages = comm.gather(run_unstable(comm=comm))
    if comm.rank == 0:
        picture = figure.axes[0].images[0].get_array().filled(np.nan)
        np.savez(folder / "others.npz", populations=populations, messages=messages, picture=picture)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
