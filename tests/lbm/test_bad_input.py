"""Invalid input raises an error that names it, before anything runs."""

import os
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

import hetero
import lbm
from flows import FORMS
from lbm._parallel import memory_forecast, placement
from lbm._performance.cavity import cavity_problem
from lbm.flows import sphere, vortices

BALL = np.zeros((8, 8, 8), bool)
BALL[3:5, 3:5, 3:5] = True
INLET = lbm.VelocityInlet((0.1, 0.0, 0.0))


@pytest.mark.parametrize(("options", "error", "words"), [
    ({"shape": (8, 8)}, ValueError, "shape must be three integers"),
    ({"shape": (1 << 11, 1 << 11, 1 << 11)}, ValueError, "2\\^32"),
    ({"shape": (7, 8, 8), "storage": "float16"}, ValueError, "even nx"),
    ({"dtype": "float16"}, ValueError, "dtype='float32', storage='float16'"),
    ({"dtype": "float64", "storage": "float16"}, ValueError, "goes with dtype='float32'"),
    ({"boundaries": {"x-": lbm.NoSlip()}}, ValueError, "'x-' and 'x\\+'"),
    ({"boundaries": {"w": lbm.NoSlip()}}, ValueError, "key 'w'"),
    ({"boundaries": {"x": lbm.NoSlip(), "x-": lbm.NoSlip()}}, ValueError, "twice"),
    ({"boundaries": {"y": lbm.Solid(BALL)}}, ValueError, "names a face"),
    ({"boundaries": {"a": lbm.Solid(BALL[1:])}}, ValueError, "cells of shape"),
    ({"boundaries": {"a": lbm.Solid(BALL), "b": lbm.Solid(BALL)}}, ValueError,
     r"boundaries\['b'\] overlaps the solid 'a' in \d+ cells"),
    ({"u": lambda x, y, z: np.zeros((3, 4, 4, 4))}, ValueError,
     "function u must .* \\(4, 4, 4"),
    ({"u": np.full((3, 8, 8, 8), np.inf)}, ValueError, "finite"),
    ({"u": (2.0, 0.0, 0.0)}, ValueError, "Mach 3.5"),
    ({"rho": 50.0}, ValueError, "rho is 50 in cell"),
    ({"boundaries": {"a": lbm.Solid(np.ones((8, 8, 8), bool))}}, ValueError, "no fluid cell"),
    ({"boundaries": {"y": lbm.MovingWall((0.0, 0.1, 0.0))}}, ValueError, "its own plane"),
    ({"boundaries": {"z+": lbm.MovingWall((0.1, 0.0, 1e-9)), "z-": lbm.NoSlip()}}, ValueError,
     "'z\\+' would move through its own plane"),
    ({"boundaries": {"x-": INLET, "x+": lbm.VelocityInlet((-0.1, 0.0, 0.0))}}, ValueError,
     "no outlet"),
    ({"boundaries": {"a": lbm.Solid(BALL, INLET), "x-": lbm.NoSlip(), "x+": INLET}},
     ValueError, "take out a net mass of"),
    *(({"boundaries": {"wing": lbm.Solid(cells)}}, ValueError,
       r"boundaries\['wing'\] covers no cell of the domain")  # its force would always be 0
      for cells in (np.zeros((8, 8, 8), bool), lbm.Sphere((4, 4, 4), 0.01),
                    lbm.geometry.sphere((8, 8, 8), (40, 4, 4), 2.0),
                    lambda x, y, z: (x < 0) & (y < 0) & (z < 0))),
    ({"ratio": 0.5}, ValueError, "needs device='cuda'"),
])  # fmt: skip
def test_simulation_refuses(options, error, words):
    shape = options.pop("shape", (8, 8, 8))
    with pytest.raises(error, match=words):
        lbm.Simulation(shape, device="cpu", **options)


HUGE = {"pattern": "ab", "dtype": "float64", "lattice": "D3Q27"}
"""Settings with which the largest domains need more memory than any machine has."""


@pytest.mark.parametrize("ratio", [0.0, 0.3, "auto"])
@pytest.mark.parametrize("build", [
    lambda **options: lbm.Simulation((2000, 2000, 1000), **HUGE, **options),
    lambda **options: sphere(75, reynolds=100.0, **HUGE, **options),
    lambda **options: vortices(2000, nz=1000, **HUGE, **options),
], ids=["Simulation", "sphere", "vortices"])  # fmt: skip
def test_memory_is_compared_before_anything_is_built(build, ratio, device):
    """The message states the need, the free memory and a remedy for the device."""
    if device == "cpu" and ratio:
        pytest.skip("a share of the CPU is beside a GPU")
    tracemalloc.start()
    with pytest.raises(MemoryError, match=r"needs [0-9.]+ .iB on .*free. Remedy: take at most"):
        build(device=device, ratio=ratio)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


def test_boxes_and_ranks_share_the_memory_of_a_device(monkeypatch):
    monkeypatch.setattr("hetero.memory._available_bytes", lambda: 5 << 19)
    words = r"a domain of 4 boxes of 32 x 32 x 8 cells .* on cpu, which has 2\.5 MiB free"
    with pytest.raises(MemoryError, match=words):
        lbm.Simulation((32, 32, 32), device=["cpu"] * 4)
    ranks = SimpleNamespace(gather_all=lambda value: [value] * 4 + [("elsewhere", {"cpu"})])
    sharers = placement.count_sharers(ranks, [placement.CPU])
    box = [((32, 32, 8), placement.CPU)], memory_forecast.choose_storage(), 0.0, False
    memory_forecast.require_room(*box, {placement.CPU: 3})
    with pytest.raises(MemoryError, match=words):
        memory_forecast.require_room(*box, sharers)


def test_required_memory_is_the_size_of_the_arrays():
    for pattern, storage in [("ab", "float64"), ("esoteric", "float32"), ("aa", "float16")]:
        shape = (34, 21, 12)
        s = lbm.Simulation(shape, pattern=pattern, **FORMS[storage], force=(1e-300, 0.0, 0.0),
                           device="cpu")  # fmt: skip
        arrays = sum(a.nbytes for a in s.domain.engine.populations)
        fields = 4 * np.prod(shape) * np.dtype(s.problem.precision.compute).itemsize
        stored = memory_forecast.Storage(pattern, s.problem.precision)
        assert stored.required_bytes(shape) == arrays + np.prod(shape) + fields


def test_units_refuse_unstable_settings():
    air = {"length": 1.0, "speed": 10.0, "viscosity": 1.5e-5}
    with pytest.raises(ValueError, match=r"Use at least (\d+) cells") as caught:
        lbm.Units.choose(cells=100, **air)
    cells = int(str(caught.value).split("at least ")[1].split()[0])
    units = lbm.Units.choose(cells=cells, **air)
    assert units.viscosity == pytest.approx(1.5e-5)
    for viscosity in np.geomspace(0.06, 50.0, 40):
        slow = {"length": 1.0, "speed": 1.0, "viscosity": viscosity, "cells": np.int64(100)}
        with pytest.raises(ValueError, match="above 2") as caught:
            lbm.Units.choose(**slow)
        speed = float(str(caught.value).split("lattice_speed=")[1].split()[0])
        assert lbm.Units.choose(lattice_speed=speed, **slow).tau == pytest.approx(2.0, rel=0.01)
    with pytest.raises(ValueError, match="lattice_speed"):
        lbm.Units.choose(length=1.0, speed=1.0, viscosity=0.01, cells=64, lattice_speed=0.5)


def test_units_convert_there_and_back():
    units = lbm.Units.choose(length=2.0, cells=64, speed=3.0, viscosity=0.05, density=1000.0)
    assert units.to_lattice(speed=3.0) == pytest.approx(0.1)
    assert units.to_physical(speed=units.to_lattice(speed=1.7)) == pytest.approx(1.7)
    assert units.to_lattice(time=units.to_physical(steps=12)) == pytest.approx(12)
    assert units.to_lattice(pressure=units.to_physical(pressure=0.02)) == pytest.approx(0.02)
    assert 0.1 * 64 / ((units.tau - 0.5) / 3) == pytest.approx(3.0 * 2.0 / 0.05)
    # A force is density length^2 speed^2 in either system.
    assert units.to_physical(force=1.0 * 64**2 * 0.1**2) == pytest.approx(1000.0 * 4.0 * 9.0)
    with pytest.raises(TypeError, match="exactly one"):
        units.to_physical(speed=1.0, steps=3)


def test_values_inside_solids_do_not_matter_and_inlets_may_balance_each_other():
    """The potential flow around a body may be arbitrarily fast inside the body."""
    u = np.zeros((3, 8, 8, 8))
    u[0][BALL] = 100.0
    s = lbm.Simulation((8, 8, 8), u=u, boundaries={"a": lbm.Solid(BALL)}, device="cpu")
    with pytest.raises(ValueError, match=r"Mach 3\.5:"):
        s.set(u=(2.0, 0.0, 0.0))
    # Fluid that enters at one end may leave at the other, or through the other side of a body.
    through = lbm.VelocityInlet((0.05, 0.0, 0.0))
    walls = {"x": through, "y": lbm.NoSlip(), "z": lbm.FreeSlip(), "a": lbm.Solid(BALL, through)}
    lbm.Simulation((8, 8, 8), boundaries=walls, device="cpu")


@pytest.mark.parametrize("shape", [(4, 1, 65_536), (1, 262_144, 1)])
def test_parts_that_are_too_long_for_a_gpu(shape):
    from lbm._kernels.cuda import create_engine

    with pytest.raises(ValueError, match=r"too long for a GPU.* and 65535 along z: let x"):
        create_engine(cavity_problem(shape), hetero.Device("cuda", 0))


@pytest.mark.parametrize(("use", "error", "words"), [
    (lambda s, _: s.force_on("y-"), ValueError, "'y-' is a face"),
    (lambda s, _: s.force_on("b"), ValueError, "no solid 'b'.*which has 'a'"),
    (lambda s, _: s.run(1, callbacks=[3]), TypeError, "must hold callables, got 3"),
    (lambda s, folder: s.save(folder), IsADirectoryError, "is a folder"),
    (lambda s, _: lbm.Probe([(3, 3, 3)])(s), ValueError, "lies in a solid"),
    (lambda s, _: s.run(2**63), ValueError, "steps must be an integer in"),
])  # fmt: skip
def test_wrong_uses(use, error, words, tmp_path):
    s = lbm.Simulation((8, 8, 8), boundaries={"a": lbm.Solid(BALL)}, device="cpu", check=0)
    with pytest.raises(error, match=words):
        use(s, tmp_path)
    assert s.steps == 0
    assert "unchecked" in repr(s)


@pytest.mark.cuda
def test_a_gpu_without_room_stays_usable(require_cuda, monkeypatch):
    """All memory is freed, even if the forecast was too optimistic and the driver refuses."""
    if os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1") != "1":
        pytest.skip("other processes take memory of this GPU: run this test alone")
    gpu = hetero.Device("cuda")
    lbm.Simulation((8, 8, 8), device=gpu)
    before = memory_forecast.free_bytes(gpu)
    shape = (1024, 1024, before // (76 << 20) * 6 // 5)
    with pytest.raises(MemoryError, match=r"needs .* on cuda:0, which has .* free\. Remedy: "):
        lbm.Simulation(shape, device=gpu)
    monkeypatch.setattr("lbm._parallel.placement.require_room", lambda *_, **__: None)
    monkeypatch.setattr("lbm._parallel.parts.free_bytes", lambda device: 1 << 50)
    fitting = (1024, 1024, before // (76 << 20) * 2 // 3)  # one copy does, two do not
    with pytest.raises(MemoryError, match="Remedy: "):
        lbm.Simulation(fitting, pattern="ab", device=gpu)
    monkeypatch.undo()
    assert memory_forecast.free_bytes(gpu) > before - (64 << 20)
    s = lbm.Simulation((16, 16, 16), u=(0.05, 0.0, 0.0), device=gpu).run(3)
    assert np.abs(s.u[0] - 0.05).max() < 1e-6
