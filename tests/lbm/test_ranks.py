"""Several ranks compute, bit for bit, the flow of one, and end together if one of them fails."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lbm
from flows import SHAPE, pair
from lbm._domain.ranks.fingerprints import fingerprint
from lbm.launcher import SIZE_VARIABLES, find_launcher, run_ranks, world
from rank_worker import (
    FORMS,
    PATTERNS,
    cases,
    corner_cases,
    run_eddies,
    run_flow,
    run_interpolated_scalar,
    run_scalars,
)
from studies.lbm.scaling_worker import Case, run_cases
from vtk_images import read_image

pytest.importorskip("mpi4py")
try:
    find_launcher()
except FileNotFoundError as error:
    pytest.skip(str(error), allow_module_level=True)

pytestmark = [pytest.mark.mpi, pytest.mark.timeout(600)]
ROOT = Path(__file__).resolve().parents[2]
PATHS = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests" / "support"),
                                        os.environ.get("PYTHONPATH", "")])}  # fmt: skip


def run_program(count, program, *arguments, **options):
    """Run a program on ranks and return its exit status and its output."""
    done = run_ranks(count, ["-P", "-c", program, *map(str, arguments)], threads=1, timeout=120,
                     environment=PATHS, capture_output=True, text=True, **options)  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def one_rank():
    """Results of all cases on one rank."""
    return {case: run_flow(*case, device="cpu") for case in cases()}


@pytest.fixture(scope="module", params=[2, 3, 4])
def ranks(request, tmp_path_factory):
    """Number of ranks, and the folder with their results."""
    folder = tmp_path_factory.mktemp(f"ranks{request.param}")
    pair("cavity with bodies", lbm.TRT(0.7), dtype="float64", device="cpu")[0].run(3).save(
        folder / "one rank.state"
    )
    worker = ROOT / "tests" / "support" / "rank_worker.py"
    done = run_ranks(request.param, [str(worker), str(folder)], threads=1, timeout=560,
                     environment=PATHS, capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return request.param, folder


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("form", FORMS)
def test_all_results_are_bit_for_bit_those_of_one_rank(ranks, pattern, form, one_rank, tmp_path):
    _, folder = ranks
    for case in cases():
        if case[1:] != (pattern, form):
            continue
        expected, name = one_rank[case], " ".join(case)
        with np.load(folder / f"{name}.npz") as saved:
            assert set(saved) == set(expected)
            for key, value in expected.items():
                assert np.array_equal(saved[key], value), (case, key)
        s = pair(case[0], lbm.TRT(0.7), pattern=pattern, **FORMS[form], device="cpu")[0]
        s.restore(folder / f"{name}.state")
        assert np.array_equal(s.populations(), expected["populations"])
        again = s.save(tmp_path / "again").read_bytes()
        assert again == (folder / f"{name}.state").read_bytes()


def test_results_on_the_lattice_d3q27_are_bit_for_bit_those_of_one_rank(ranks):
    _, folder = ranks
    for case in corner_cases():
        expected = run_flow(*case, device="cpu", lattice=lbm.D3Q27)
        with np.load(folder / f"{case[0]} D3Q27.npz") as saved:
            for key, value in expected.items():
                assert np.array_equal(saved[key], value), (case, key)


def test_scalars_are_bit_for_bit_those_of_one_rank(ranks, tmp_path):
    _, folder = ranks
    expected = run_scalars(tmp_path, device="cpu")
    with np.load(folder / "scalars.npz") as saved:
        assert set(saved) == set(expected)
        for key, value in expected.items():
            assert np.array_equal(saved[key], value), key
    theirs, ours = (f / "scalars.state" for f in (folder, tmp_path))
    assert theirs.read_bytes() == ours.read_bytes()


def test_scalars_at_interpolated_walls_are_bit_for_bit_those_of_one_rank(ranks):
    _, folder = ranks
    expected = run_interpolated_scalar(device="cpu")
    with np.load(folder / "interpolated scalar.npz") as saved:
        for key, value in expected.items():
            assert np.array_equal(saved[key], value), key


def test_eddy_viscosities_are_bit_for_bit_those_of_one_rank(ranks, tmp_path):
    _, folder = ranks
    expected = run_eddies(tmp_path, device="cpu")
    with np.load(folder / "eddies.npz") as saved:
        for key, value in expected.items():
            assert np.array_equal(saved[key], value), key
    theirs, ours = (f / "eddies.state" for f in (folder, tmp_path))
    assert theirs.read_bytes() == ours.read_bytes()


def test_a_checkpoint_of_one_rank_continues_on_several(ranks):
    _, folder = ranks
    s = pair("cavity with bodies", lbm.TRT(0.7), dtype="float64", device="cpu")[0]
    s.restore(folder / "one rank.state").run(2)
    with np.load(folder / "others.npz") as saved:
        assert np.array_equal(saved["populations"], s.populations())


def test_all_ranks_find_the_same_unstable_cell(ranks):
    count, folder = ranks
    fast = np.zeros((3, *SHAPE))
    fast[0, 3, 4, 5] = 0.45
    alone = lbm.Simulation(SHAPE, collision=lbm.TRT(0.5001), u=fast, device="cpu")
    with pytest.raises(lbm.UnstableError) as caught:
        alone.run(400)
    with np.load(folder / "others.npz") as saved:
        messages = list(saved["messages"])
    assert messages == [f"{caught.value.step} {caught.value.cell}"] * count


def test_each_rank_writes_its_piece_of_a_vtk_image(ranks):
    count, folder = ranks
    grid = ElementTree.parse(folder / "flow.pvti").getroot().find("PImageData")
    assert grid.get("WholeExtent").split() == ["0", "12", "0", "9", "0", "7"]
    pieces = grid.findall("Piece")
    assert len(pieces) == count
    cells = np.zeros(SHAPE, int)
    for piece in pieces:
        assert (folder / piece.get("Source")).is_file()
        x0, x1, y0, y1, z0, z1 = map(int, piece.get("Extent").split())
        cells[x0:x1, y0:y1, z0:z1] += 1
    assert (cells == 1).all()


def test_vtk_joins_the_pieces_of_all_ranks(ranks, tmp_path):
    """VTK's own reader finds the arrays of one rank, bit for bit, derivatives included."""
    pytest.importorskip("vtkmodules.vtkIOXML")
    _, folder = ranks
    s = pair("cavity with bodies", lbm.TRT(0.7), dtype="float64", device="cpu")[0]
    s.restore(folder / "one rank.state").run(2)
    _, expected = read_image(s.write_vtk(tmp_path / "one", derived=("vorticity", "q")))
    image, fields = read_image(folder / "flow.pvti")
    assert image.GetDimensions() == tuple(n + 1 for n in SHAPE)
    assert set(fields) == set(expected) == {"rho", "drho", "u", "fluid", "vorticity", "q"}
    for name, values in expected.items():
        np.testing.assert_array_equal(fields[name], values)


START = """
import os, signal, sys, time
import numpy as np
from mpi4py import MPI
import lbm
comm = MPI.COMM_WORLD
"""


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("shape = (8, 8, 8 + 2 * comm.rank)", "shape="),
        ("u = np.random.default_rng(comm.rank).normal(0, 0.01, (3, 8, 8, 8))", "u=array"),
        ("u = lambda x, y, z: (0.01 * np.sin(x + comm.rank), 0 * y, 0 * z)", "u=function"),
        ("u = [np.full((8, 8, 8), 0.01) for _ in range(3)]; u[0][4, 4, 4] += 1e-3 * comm.rank",
         "u=[array"),
        ("cells = np.zeros((8, 8, 8), bool); cells[comm.rank] = True", "solids="),
        ("lbm.simulation.VERSION = str(comm.rank)", "version="),
        ("force = lambda t: (1e-5 * comm.rank, 0, 0)", "force=function"),
        ("wall = lbm.MovingWall(lambda x, y, z: (0.01 * (x + comm.rank), 0, 0))", "faces="),
    ],
)  # fmt: skip
def test_ranks_with_different_arguments_refuse_to_start(change, named):
    program = f"""{START}
import lbm.simulation
shape, u, cells = (8, 8, 8), (0, 0, 0), np.zeros((8, 8, 8), bool)
force, wall = (0, 0, 0), lbm.NoSlip()
{change}
walls = {{"a": lbm.Solid(cells), "y": wall}}
lbm.Simulation(shape, u=u, boundaries=walls, force=force, comm=comm, device="cpu")
"""
    status, output = run_program(2, program)
    assert status != 0
    assert f"rank 1 has {named}" in output
    assert "all ranks must run the same program" in output


def test_functions_of_time_need_values_for_the_time_of_the_run_only():
    """Ranks compare them at times that a short run does not reach."""
    ramp = lbm.NonReflectingOutlet(lambda t: 1.0 + 0.004 * t, averaging=20.0)
    slower = lbm.NonReflectingOutlet(ramp.rho, averaging=30.0)
    table = np.linspace(0.0, 0.01, 20)
    wall = lbm.MovingWall(lambda t: (table[int(t)], 0.0, 0.0))
    shape = 4, 4, 4
    texts = {fingerprint(condition, shape) for condition in (ramp, slower, wall)}
    assert len(texts) == 3
    assert fingerprint(ramp, shape) in texts


@pytest.mark.parametrize("gap", [False, True])
def test_regions_of_fluid_extend_over_all_ranks(gap):
    """An inlet and an outlet in the two arms of a U, whose bend only the ranks in between know."""
    program = f"""{START}
x, y, z = np.ogrid[:12, :9, :2]
cells = (y == 4) & ((x < 10) | {not gap}) & (z < 2)
walls = {{"x": lbm.NoSlip(), "y": lbm.NoSlip(), "wall": lbm.Solid(cells)}}
walls["in"] = lbm.Solid((x == 0) & (y < 4) & (z < 2), lbm.VelocityInlet((0.02, 0, 0)))
walls["out"] = lbm.Solid((x == 0) & (y > 4) & (z < 2), lbm.PressureOutlet())
try:
    lbm.Simulation((12, 9, 2), boundaries=walls, comm=comm, decomposition=(3, 1, 1), device="cpu")
    print("accepted", flush=True)
except ValueError as error:
    print(f"refused: {{error}}\\n", end="", flush=True)
"""
    status, output = run_program(3, program)
    assert status == 0, output
    assert output.count("accepted" if gap else "refused: inlets") == 3
    assert output.count("around cell (1, 0, 0), which has no outlet") == 3 * (not gap)


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        ("s.run(10 + comm.rank)", "rank 1 has steps=11, but rank 0 has 10"),
        ("s.run(4, callbacks=[lbm.Every(1 + comm.rank, print)])",
         "rank 1 has steps between callbacks=[2], but rank 0 has [1]"),
        ("s.run(4, callbacks=[lbm.Probe([(1, 1, 1)]) if comm.rank else lbm.SteadyState(0.1, 1)])",
         "rank 1 has callbacks=['Probe'], but rank 0 has ['SteadyState']"),
        ("comm.rank or s.momentum(); s.run(10)", "rank 1 has method=run, but rank 0 has momentum"),
        ("s.run(2); comm.rank or s.save(sys.argv[1]); s.run(10)",
         "rank 1 has method=run, but rank 0 has save"),
        ("comm.rank or s.write_vtk(sys.argv[1]); s.run(10)", "but rank 0 has write_vtk"),
        ("comm.rank or s.gather('u'); s.run(10)", "rank 1 has method=run, but rank 0 has gather"),
    ],
)  # fmt: skip
def test_ranks_that_do_not_run_together_say_so(calls, words, tmp_path):
    program = f"""{START}
s = lbm.Simulation((8, 8, 8), comm=comm, device="cpu")
{calls}
"""
    status, output = run_program(2, program, tmp_path / "state")
    assert status != 0
    assert words in output


@pytest.mark.parametrize(("steps", "named"), [(2, "digest of the"), (3, "steps of the")])
def test_ranks_that_restore_different_states_refuse(steps, named, tmp_path):
    """Their cells would be a mixture that was never computed."""
    for name, speed, count in (("0.state", 0.01, 2), ("1.state", 0.02, steps)):
        lbm.Simulation((8, 8, 8), u=(speed, 0.0, 0.0), device="cpu").run(count).save(
            tmp_path / name
        )
    program = f"""{START}
s = lbm.Simulation((8, 8, 8), comm=comm, device="cpu").run(1)
try:
    s.restore(f"{{sys.argv[1]}}/{{comm.rank}}.state")
except ValueError as error:
    print(f"state {{s.steps}} {{abs(s.u).max()}} kept: {{error}}\\n", end="", flush=True)
"""
    status, output = run_program(2, program, tmp_path)
    assert status == 0, output
    assert output.count("state 1 0.0 kept: ") == 2
    assert output.count(f"rank 1 has {named} checkpoint=") == 2


@pytest.mark.parametrize("failing", [0, 1])
def test_a_rank_that_cannot_write_keeps_no_other_waiting(failing, tmp_path):
    """Each writes some of the slabs of a checkpoint, and sends its cells for the others."""
    program = f"""{START}
import lbm._io.checkpoint as checkpoint
import lbm._io.checkpoint_format as file_format
file_format._SLAB_CELLS = 64
s = lbm.Simulation((8, 8, 8), comm=comm, decomposition=(2, 1, 1), device="cpu").run(1)
digest_of = checkpoint.digest_of
def fail(*data):
    raise OSError(28, "No space left on device")
if comm.rank == {failing}:
    checkpoint.digest_of = fail
try:
    s.save(sys.argv[1])
except OSError as error:
    print("full" if sys.argv[1] in str(error) else error, flush=True)
checkpoint.digest_of = digest_of
s.run(1).save(sys.argv[1])
"""
    status, output = run_program(2, program, tmp_path / "state")
    assert (status, output.count("full")) == (0, 2), output
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_communicators_of_simulations_that_have_ended_are_freed():
    """An MPI has room for about 2000; what one rank still uses stays on all of them."""
    program = f"""{START}
from lbm._domain.ranks import private_communicators
from lbm._domain.ranks.private_communicators import copy_communicator
class Owner:
    pass
private_communicators.MOST_COPIES = 4
kept = Owner()
copy = copy_communicator(comm, kept)
if comm.rank:
    del kept
for _ in range(3000):
    copy_communicator(comm, Owner())
assert copy.allgather(comm.rank) == [0, 1]
s = lbm.Simulation((8, 8, 8), u=(0.01, 0, 0), comm=comm, device="cpu")
for _ in range(9):
    lbm.Simulation((4, 4, 4), comm=comm, device="cpu")
print(s.run(4).steps)
"""
    status, output = run_program(2, program)
    assert (status, "".join(output.split())) == (0, "44")


def test_an_error_before_the_first_simulation_ends_all():
    program = f"""{START}
from lbm.launcher import world
if world().rank == 1:
    raise FileNotFoundError("the mask of rank 1 is missing")
lbm.Simulation((8, 8, 8), comm=comm, device="cpu")
"""
    status, output = run_program(2, program)
    assert status != 0
    assert "the mask of rank 1 is missing" in output


def test_an_error_on_one_rank_ends_all():
    program = f"""{START}
s = lbm.Simulation((8, 8, 8), comm=comm, device="cpu", check=0)
s.run(3)
if comm.rank == 1:
    raise RuntimeError("the disk of rank 1 is on fire")
s.run(10**9)
"""
    status, output = run_program(3, program)
    assert status != 0
    assert "rank 1 of 3 on" in output
    assert "the disk of rank 1 is on fire" in output


@pytest.mark.parametrize("status", ["3", "'the input of rank 1 is empty'"])
def test_an_exit_of_one_rank_ends_all(status):
    program = f"""{START}
s = lbm.Simulation((8, 8, 8), comm=comm, device="cpu", check=0)
s.run(3)
if comm.rank == 1:
    sys.exit({status})
s.run(10**9)
"""
    code, output = run_program(3, program)
    assert code != 0
    assert f"has called sys.exit({status}), and all ranks end" in output


def test_other_exits_end_no_rank():
    """A status of 0, one that is caught, and the same mistake on all ranks."""
    program = f"""{START}
s = lbm.Simulation((8, 8, 8), comm=comm, device="cpu")
s.run(1)
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
    program = f"""{START}
s = lbm.Simulation((8, 8, 8), u=(0.01, 0, 0), comm=comm, device="cpu", check=0)
s.run(4)
s.save(sys.argv[1])
if comm.rank == 2:
    os.kill(os.getpid(), signal.SIGKILL)
s.run(10**9)
"""
    status, output = run_program(3, program, tmp_path / "state")
    assert status != 0
    assert any(word in output.lower() for word in ("killed", "signal"))
    restart = f"""{START}
s = lbm.Simulation((8, 8, 8), comm=comm, device="cpu")
print(s.restore(sys.argv[1]).run(1).steps)
"""
    status, output = run_program(2, restart, tmp_path / "state")
    assert (status, "".join(output.split())) == (0, "55")  # lines of ranks may run together


def test_an_interrupt_ends_all_ranks():
    program = f"""{START}
s = lbm.Simulation((8, 8, 8), comm=comm, device="cpu", check=0)
s.run(3)
if comm.rank == 0:
    os.kill(os.getpid(), signal.SIGINT)
s.run(10**9)
"""
    status, output = run_program(2, program)
    assert status != 0
    assert "rank 0 of 2" in output
    assert "was interrupted" in output


def test_a_list_of_devices_needs_one_rank():
    program = f"""{START}
lbm.Simulation((8, 8, 8), comm=comm, device=["cpu", "cpu"])
"""
    status, output = run_program(2, program)
    assert status != 0
    assert "start one rank for each GPU" in output


def test_python_of_this_environment_runs_the_ranks():
    status, output = run_program(2, "import sys; print(sys.executable)")
    assert (status, output.count(sys.executable)) == (0, 2)


@pytest.mark.parametrize("variable", ["OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"])
def test_a_launcher_of_another_mpi_is_an_error(variable):
    """Otherwise each process would compute the whole domain and write the same files."""
    command = [sys.executable, "-m", "lbm", "cavity", "--quick"]
    environment = os.environ | PATHS | {variable: "4"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"started 4 ranks ({variable}), but mpi4py" in done.stderr


def test_processes_of_batch_scripts_are_alone(monkeypatch):
    for name in SIZE_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SLURM_NTASKS", "4")
    assert world() is None


def test_measured_cases_name_the_transport_between_ranks():
    case = Case((16, 12, 8), (1, 1, 2))
    assert [(r.transport, r.ratio) for r in run_cases([case, case], 2, 1)] == [("host", 0.0)] * 2
    alone = replace(case, grid=(1, 1, 1))
    assert [(r.transport, r.ratio) for r in run_cases([alone], 1, 1)] == [("direct", 0.0)]


@pytest.mark.parametrize("transport", ["host", "device"])
def test_gpus_of_two_ranks_exchange_halos_in_the_simulator(transport):
    """A stand-in for an MPI that takes buffers of GPUs carries the messages of "device"."""
    program = f"""{START}
from flows import noisy
from gpu_rank_worker import DeviceAware
rho, u = noisy((4, 4, 4))
walls = {{"x": lbm.NoSlip(), "y-": lbm.NoSlip(), "y+": lbm.MovingWall((0.05, 0.0, 0.0))}}
options = {{"boundaries": walls, "rho": rho, "u": u, "check": 0, "dtype": "float64"}}
ranks = DeviceAware(comm) if sys.argv[1] == "device" else comm
gpu = lbm.Simulation((4, 4, 4), comm=ranks, device="cuda", **options)
cpu = lbm.Simulation((4, 4, 4), comm=comm, device="cpu", **options)
for _ in range(2):
    ours, theirs = gpu.run(1).gather("u"), cpu.run(1).gather("u")
    assert comm.rank or np.abs(ours - theirs).max() < 5e-15
assert gpu.transports == {{sys.argv[1]: 2}}, gpu.transports
"""
    simulator = {**PATHS, "NUMBA_ENABLE_CUDASIM": "1", "LBM_TRANSPORT": transport}
    done = run_ranks(2, ["-P", "-c", program, transport], threads=1, timeout=120,
                     environment=simulator, capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ranks 0, 1 share cuda:0" in done.stderr
