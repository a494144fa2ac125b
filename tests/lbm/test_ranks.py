"""Several ranks compute, bit for bit, the flow of one, and end together if one of them fails."""

import functools
import json
import subprocess
import sys

import numpy as np
import pytest

import lbm
from flows import FORMS, SHAPE, pair
from lbm.launcher import SIZE_VARIABLES, world
from lbm_runs import ROOT, start
from rank_worker import CASES, run_flow, run_unstable
from vtk_images import read_image

pytest.importorskip("mpi4py")
pytestmark = [pytest.mark.mpi, pytest.mark.timeout(600)]
WORKER = ROOT / "tests/support/rank_worker.py"


def run_program(count, program, *arguments, **options):
    """Run a program on ranks and return its exit status and its output."""
    status, output, errors = start(count, "-P", "-c", program, *arguments, timeout=120, **options)
    return status, output + errors


def make_cavity():
    return pair("cavity with bodies", lbm.TRT(0.7), dtype="float64", device="cpu")[0]


run_on_one = functools.cache(functools.partial(run_flow, device="cpu"))
"""Run a flow on one rank: before others start, which then find its compiled code on disk."""


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    """Return a function of a number of ranks that returns the folder with their results."""

    @functools.cache
    def run(count):
        folder = tmp_path_factory.mktemp(f"ranks{count}")
        make_cavity().run(3).save(folder / "one rank.state")
        for *case, ranks in CASES:
            if ranks == count:
                run_on_one(*case)
        status, output, errors = start(count, WORKER, folder, timeout=560)
        assert status == 0, output + errors
        return folder

    return run


@pytest.mark.parametrize(("flow", "pattern", "form", "count"), CASES)
def test_all_results_are_bit_for_bit_those_of_one_rank(
    flow, pattern, form, count, folder_of, tmp_path
):
    folder, expected = folder_of(count), run_on_one(flow, pattern, form)
    name = f"{flow} {pattern} {form}"
    with np.load(folder / f"{name}.npz") as saved:
        assert set(saved) == set(expected)
        for key, value in expected.items():
            assert np.array_equal(saved[key], value), key
    s = pair(flow, lbm.TRT(0.7), pattern=pattern, **FORMS[form], device="cpu")[0]
    s.restore(folder / f"{name}.state")
    assert np.array_equal(s.populations(), expected["populations"])
    assert s.save(tmp_path / "again").read_bytes() == (folder / f"{name}.state").read_bytes()


@pytest.mark.parametrize("count", [2, 4])
def test_ranks_continue_a_checkpoint_of_one_and_find_the_same_unstable_cell(count, folder_of):
    s = make_cavity().restore(folder_of(count) / "one rank.state").run(2)
    with np.load(folder_of(count) / "others.npz") as saved:
        assert np.array_equal(saved["populations"], s.populations())
        assert list(saved["messages"]) == [run_unstable()] * count
        picture = s.plot("z").axes[0].images[0].get_array().filled(np.nan)
        assert np.array_equal(saved["picture"], picture, equal_nan=True)


@pytest.mark.parametrize("count", [2, 4])
def test_vtk_joins_the_pieces_of_all_ranks(count, folder_of, tmp_path):
    """VTK's own reader finds the arrays of one rank, bit for bit, derivatives included."""
    pytest.importorskip("vtkmodules.vtkIOXML")
    s = make_cavity().restore(folder_of(count) / "one rank.state").run(2)
    derived = "vorticity", "q", "wall_shear"
    _, expected = read_image(s.write_vtk(tmp_path / "one", derived=derived))
    image, fields = read_image(folder_of(count) / "flow.pvti")
    assert image.GetDimensions() == tuple(n + 1 for n in SHAPE)
    assert set(fields) == set(expected) >= {"rho", "drho", "u", "fluid", *derived}
    for name, values in expected.items():
        np.testing.assert_array_equal(fields[name], values)


START = """
import json, os, resource, signal, sys, time
import numpy as np
from mpi4py import MPI
import lbm, lbm.simulation
comm = MPI.COMM_WORLD
"""

ARGUMENTS = {
    "shape = (8, 8, 8 + 2 * comm.rank)": "shape=",
    "u = np.random.default_rng(comm.rank).normal(0, 0.01, (3, 8, 8, 8))": "u=array",
    "u = lambda x, y, z: (0.01 * np.sin(x + comm.rank), 0 * y, 0 * z)": "u=function",
    "u = [np.full((8, 8, 8), 0.01) for _ in range(3)]; u[0][4, 4, 4] += 1e-3 * comm.rank":
        "u=[array",
    "cells = np.zeros((8, 8, 8), bool); cells[comm.rank] = True": "solids=",
    "motion = lbm.Translation(lambda t: (0.01 * t * comm.rank, 0, 0))": "solids=",
    "lbm.simulation.VERSION = str(comm.rank)": "version=",
    "force = lambda t: (1e-5 * comm.rank, 0, 0)": "force=function",
    "wall = lbm.MovingWall(lambda x, y, z: (0.01 * (x + comm.rank), 0, 0))": "faces=",
}  # fmt: skip
"""Arguments in which ranks differ, and what the message names."""

CALLS = {
    "s.run(10 + comm.rank)": "rank 1 has steps=11, but rank 0 has 10",
    "s.run(4, callbacks=[lbm.Every(1 + comm.rank, print)])":
        "rank 1 has steps between callbacks=[2], but rank 0 has [1]",
    "s.run(4, callbacks=[lbm.Probe([(1, 1, 1)]) if comm.rank else lbm.SteadyState(0.1, 1)])":
        "rank 1 has callbacks=['Probe'], but rank 0 has ['SteadyState']",
    "comm.rank or s.momentum(); s.run(10)": "rank 1 has method=run, but rank 0 has momentum",
    "s.run(2); comm.rank or s.save(folder + '/x'); s.run(10)":
        "rank 1 has method=run, but rank 0 has save",
    "comm.rank or s.write_vtk(folder + '/x'); s.run(10)": "but rank 0 has write_vtk",
    "comm.rank or s.gather('u'); s.run(10)": "rank 1 has method=run, but rank 0 has gather",
    "restore('digest')": "rank 1 has digest of the checkpoint=",
    "restore('steps')": "rank 1 has steps of the checkpoint=",
    "lbm.Simulation((8, 8, 8), comm=comm, device=['cpu', 'cpu'])": "start one rank for each GPU",
    "run_through_a_bend(has_gap=True)": "accepted",
    "run_through_a_bend(has_gap=False)": "around cell (1, 0, 0), which has no outlet",
}  # fmt: skip
"""What ranks do with a simulation s, and the message."""

REFUSALS = f"""{START}
folder, arguments, calls = sys.argv[1], *map(json.loads, sys.argv[2:])
version = lbm.simulation.VERSION

def start(change):
    cells = np.arange(512).reshape(8, 8, 8) < 9
    names = globals() | dict(shape=(8, 8, 8), u=(0, 0, 0), cells=cells, force=(0, 0, 0),
                             wall=lbm.NoSlip(), motion=None)
    exec(change, names)
    walls = {{"a": lbm.Solid(names["cells"]), "y": names["wall"],
              "b": lbm.Solid(lbm.Sphere((5, 5, 5), 0.7), motion=names["motion"])}}
    lbm.Simulation(names["shape"], u=names["u"], boundaries=walls, force=names["force"], comm=comm,
                   device="cpu")

def restore(kind):
    s.run(1)
    try:
        s.restore(f"{{folder}}/{{kind}} {{min(comm.rank, 1)}}")
    finally:
        assert (s.steps, abs(s.u).max()) == (1, 0.0)

def run_through_a_bend(has_gap):
    # An inlet and an outlet in the arms of a U, whose bend only the ranks in between know.
    x, y, z = np.ogrid[:12, :9, :2]
    cells = (y == 4) & ((x < 10) | (not has_gap)) & (z < 2)
    walls = {{"x": lbm.NoSlip(), "y": lbm.NoSlip(), "wall": lbm.Solid(cells)}}
    walls["in"] = lbm.Solid((x == 0) & (y < 4) & (z < 2), lbm.VelocityInlet((0.02, 0, 0)))
    walls["out"] = lbm.Solid((x == 0) & (y > 4) & (z < 2), lbm.PressureOutlet())
    lbm.Simulation((12, 9, 2), boundaries=walls, comm=comm, decomposition=(3, 1, 1), device="cpu")

def message_of(call, *values):
    try:
        call(*values)
    except (ValueError, AssertionError) as error:
        return f"{{type(error).__name__}}: {{error}}"
    return "accepted"

messages = []
for change in arguments:
    messages.append(message_of(start, change))
    lbm.simulation.VERSION = version
for call in calls:
    s = lbm.Simulation((8, 8, 8), comm=comm, device="cpu")
    messages.append(message_of(exec, call))
everyone = comm.gather(messages)
if comm.rank == 0:
    with open(folder + "/messages.json", "w") as file:
        json.dump(everyone, file)
"""


def test_ranks_that_do_not_agree_say_so_on_all_of_them(tmp_path):
    """They would otherwise wait for each other, or mix cells that were never computed."""
    for kind, steps in (("digest", 2), ("steps", 3)):
        for rank, (speed, count) in enumerate(((0.01, 2), (0.02, steps))):
            s = lbm.Simulation((8, 8, 8), u=(speed, 0.0, 0.0), device="cpu").run(count)
            s.save(tmp_path / f"{kind} {rank}")
    words = [*(f"rank 1 has {name}" for name in ARGUMENTS.values()), *CALLS.values()]
    texts = (json.dumps(list(table)) for table in (ARGUMENTS, CALLS))
    status, output = run_program(3, REFUSALS, tmp_path, *texts)
    assert status == 0, output
    for messages in json.loads((tmp_path / "messages.json").read_text()):
        for message, text in zip(messages, words, strict=True):
            assert text in message
        assert all("must run the same program" in text for text in messages[: len(ARGUMENTS)])


def test_a_rank_that_cannot_write_keeps_no_other_waiting(tmp_path):
    """Each writes some of the slabs of a checkpoint, and sends its cells for the others."""
    program = f"""{START}
s = lbm.Simulation((362, 362, 2), comm=comm, decomposition=(2, 1, 1), device="cpu")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
for failing in (0, 1):
    if comm.rank == failing:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        s.save(sys.argv[1])
    except OSError as error:
        message = "too large" if sys.argv[1] in str(error) else str(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    print(message, flush=True)
s.save(sys.argv[1])
"""
    status, output = run_program(2, program, tmp_path / "state")
    assert (status, output.count("too large")) == (0, 4), output
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


@pytest.mark.slow
def test_communicators_of_simulations_that_have_ended_are_freed():
    """An MPI has room for about 2000; what one rank still uses stays on all of them."""
    program = f"""{START}
from lbm._parallel.ranks.communication import copy_communicator
class Owner:
    pass
kept = Owner()
copy = copy_communicator(comm, kept)
if comm.rank:
    del kept
for _ in range(2100):
    copy_communicator(comm, Owner())
assert copy.allgather(comm.rank) == [0, 1]
s = lbm.Simulation((8, 8, 8), u=(0.01, 0, 0), comm=comm, device="cpu")
for _ in range(70):  # more than are kept until those of simulations that have ended are freed
    lbm.Simulation((4, 4, 4), comm=comm, device="cpu")
print(s.run(4).steps)
"""
    status, output = run_program(2, program)
    assert (status, "".join(output.split())) == (0, "44")


ENDLESS = f"""{START}
s = lbm.Simulation((8, 8, 8), comm=comm, u=(0.01, 0, 0), device="cpu", check=0)
s.run(4)
"""


@pytest.mark.parametrize(("end", "words"), [
    ("1: sys.exit('no input')", ["has called sys.exit('no input'), and all"]),
    ("0: os.kill(os.getpid(), signal.SIGINT)", ["rank 0 of 2", "was interrupted"]),
])  # fmt: skip
def test_an_exit_or_an_interrupt_of_one_rank_ends_all(end, words):
    status, output = run_program(2, f"{ENDLESS}if comm.rank == {end}\ns.run(10**9)")
    assert status != 0
    assert all(text in output for text in words), output


@pytest.mark.slow
def test_other_exits_end_no_rank():
    """A status of 0, one that is caught, and the same mistake on all ranks."""
    program = f"""{ENDLESS}
def ask():
    try:
        sys.exit(2)
    except SystemExit:
        print("caught", flush=True)
ask()
if comm.rank == 1:
    sys.exit()
time.sleep(3)
print("went on", flush=True)
"""
    status, output = run_program(2, program)
    assert (status, output.count("caught"), output.count("went on")) == (0, 2, 1), output
    status, output = run_program(2, f"{START}lbm.Simulation((8, 8, 8), comm=comm); sys.exit(2)")
    assert status != 0
    assert "all ranks end" not in output


def test_a_killed_rank_ends_all_and_the_last_checkpoint_restarts_on_fewer(tmp_path):
    program = f"""{ENDLESS}
s.save(sys.argv[1])
comm.barrier()  # rank 0 may still be writing
if comm.rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
s.run(10**9)
"""
    status, output = run_program(2, program, tmp_path / "state")
    assert status != 0
    assert any(word in output.lower() for word in ("killed", "signal"))
    s = lbm.Simulation((8, 8, 8), device="cpu").restore(tmp_path / "state")
    assert s.run(1).steps == 5


def test_a_launcher_of_another_mpi_is_an_error():
    """Otherwise each process would compute the whole domain and write the same files."""
    program = """
import os
from lbm.__main__ import main
for variable in ("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"):
    os.environ[variable] = "4"
    assert main(["cavity", "--quick"]) == 2
    del os.environ[variable]
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for variable in ("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"):
        assert f"started 4 ranks ({variable}), but mpi4py" in done.stderr


def test_processes_of_batch_scripts_are_alone(monkeypatch):
    for name in SIZE_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SLURM_NTASKS", "4")
    assert world() is None


@pytest.mark.slow
def test_gpus_of_two_ranks_exchange_halos_in_the_simulator():
    """A stand-in for an MPI that takes buffers of GPUs carries the messages of "device"."""
    program = f"""{START}
from flows import noisy
from gpu_rank_worker import DeviceAware
rho, u = noisy((4, 4, 4))
walls = {{"x": lbm.NoSlip(), "y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.05, 0.0, 0.0))}}
options = {{"boundaries": walls, "rho": rho, "u": u, "check": 0, "dtype": "float64"}}
for transport, ranks in (("host", comm), ("device", DeviceAware(comm))):
    os.environ["LBM_TRANSPORT"] = transport
    gpu = lbm.Simulation((4, 4, 4), comm=ranks, device="cuda", **options)
    cpu = lbm.Simulation((4, 4, 4), comm=comm, device="cpu", **options)
    for _ in range(2):
        ours, theirs = gpu.run(1).gather("u"), cpu.run(1).gather("u")
        assert comm.rank or np.abs(ours - theirs).max() < 5e-15
    assert gpu.transports == {{transport: 2}}, gpu.transports
"""
    status, output = run_program(2, program, environment={"NUMBA_ENABLE_CUDASIM": "1"})
    assert status == 0, output
    assert "ranks 0, 1 share cuda:0" in output
