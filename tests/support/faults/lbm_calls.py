"""Good calls of `lbm`."""

import functools
import tempfile
from pathlib import Path

import numpy as np

import lbm
from faults.judge import Later, good

SHAPE = (4, 4, 4)


@functools.cache
def _flow():
    solid = np.zeros(SHAPE, bool)
    solid[1, 1, 1] = True
    return lbm.Simulation(
        SHAPE, boundaries={"block": lbm.Solid(solid), "y": lbm.NoSlip()}, device="cpu"
    )


CORNERS = np.array([(0.0, 0.0, 0.0), (3.0, 0.0, 0.0), (0.0, 3.0, 0.0), (0.0, 0.0, 3.0)])
FACES = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])


def _mesh():
    return lbm.TriangleMesh(CORNERS, FACES)


def _mesh_file():
    """Write the mesh as an OFF file, and return its path."""
    lines = ["OFF", "4 4 0", *(" ".join(map(str, corner)) for corner in CORNERS),
             *("3 " + " ".join(map(str, face)) for face in FACES)]  # fmt: skip
    _folder().mkdir(exist_ok=True)
    path = _folder() / "mesh.off"
    path.write_text("\n".join(lines))
    return path


def _folder():
    return Path(tempfile.gettempdir()) / "faults-of-heterokit"


def _run_with(callback):
    return _flow().run(1, callbacks=[callback])


CALLS = [
    good("lbm.BGK", tau=0.8),
    good("lbm.TRT", tau=0.8, magic=0.1875),
    good("lbm.Smagorinsky", tau=0.8, constant=0.1, magic=0.1875),
    good("lbm.SmagorinskyBGK", tau=0.8, constant=0.1),
    good("lbm.SmagorinskyRecursive", tau=0.8, constant=0.1),
    good("lbm.Vreman", tau=0.8, constant=0.07, magic=0.1875, every=4),
    good("lbm.VremanBGK", tau=0.8, constant=0.07, every=4),
    good("lbm.VremanRecursive", tau=0.8, constant=0.07, every=4),
    good("lbm.VremanCentralMoments", tau=0.8, constant=0.07, every=4),
    good("lbm.RecursiveRegularized", tau=0.8),
    good("lbm.CentralMoments", tau=0.8),
    good("lbm.Regularized", tau=0.8),
    good("lbm.Decomposition", grid=(1, 1, 2), weights=(None, None, (3, 1)),
         known_as={"grid": ("boxes", "box")}),
    good("lbm.Every", every=1, function=print, takes_functions=("function",)),
    good("lbm.MovingWall", velocity=(0.1, 0.0, 0.0)),
    good("lbm.VelocityInlet", velocity=(0.1, 0.0, 0.0)),
    good("lbm.FreeStream", velocity=(0.1, 0.0, 0.0)),
    good("lbm.SyntheticEddies", mean=(0.1, 0.0, 0.0), intensity=0.1, length=8.0, count=4, seed=0,
         speed=0.1, known_as={"intensity": ("intensity", "stresses")}),
    good("lbm.PressureOutlet", rho=1.0),
    good("lbm.NonReflectingInlet", velocity=(0.1, 0.0, 0.0), averaging=5000.0),
    good("lbm.NonReflectingOutlet", rho=1.0, averaging=5000.0),
    good("lbm.Probe", cells=[(1, 1, 1)], every=1),
    good("lbm.FixedValue", value=1.0),
    good("lbm.FixedFlux", flux=1.0),
    good("lbm.Scalar", diffusivity=0.1, boundaries={"y": lbm.FixedValue(1.0)},
         buoyancy=(0.0, 1e-4, 0.0), reference=0.5, magic=0.25),
    good("lbm.Solid", cells=np.zeros(SHAPE, bool), condition=lbm.NoSlip(),
         takes_functions=("cells",), known_as={"condition": ("solid",)}),
    good("lbm.Solid, interpolated", cells=lbm.Sphere((2, 2, 2), 1.0), condition=lbm.NoSlip(),
         wall="interpolated", known_as={"cells": ("wall", "cells")}),
    good("lbm.Rotation", centre=(2.0, 2.0, 2.0), axis=(0.0, 0.0, 1.0), rate=0.01,
         takes_functions=("angle",)),
    good("lbm.Translation", path=(0.1, 0.0, 0.0), takes_functions=("path",)),
    good("lbm.Sphere", centre=(2.0, 2.0, 2.0), radius=1.0),
    good("lbm.Cylinder", centre=(2.0, 2.0), radius=1.0, axis="z"),
    good("lbm.Box", low=(1.0, 1.0, 1.0), high=(2.0, 3.0, 2.5)),
    good("lbm.HalfSpace", point=(0.0, 1.0, 0.0), normal=(0.0, 1.0, 0.5)),
    good("lbm.Sponge", cells=20, u=(0.05, 0.0, 0.0), rho=1.0, reflection=0.01, averaging=5000.0,
         takes_functions=("u",)),
    good("lbm.Statistics", every=10, start=0),
    good("lbm.SteadyState", tolerance=1e-6, every=10),
    good("lbm.Units", dx=0.1, dt=0.1, density=1.0, tau=0.8),
    good("lbm.Units.choose", length=1.0, cells=100, speed=1.0, viscosity=0.01, density=1.0,
         lattice_speed=0.1, flow="walls",
         known_as={"viscosity": ("tau", "Reynolds"), "length": ("Reynolds", "tau"),
                   "speed": ("Reynolds", "tau"), "lattice_speed": ("tau",)}),
    *(good(f"lbm.Units.{method} by {name}", getattr(lbm.Units(0.1, 0.1, 1.0, 0.8), method),
           **{name: 1.0})
      for method, names in (
          ("to_lattice", ("speed", "acceleration", "time", "pressure")),
          ("to_physical", ("speed", "pressure", "force", "torque", "steps")))
      for name in names),
    good("lbm.TriangleMesh", vertices=CORNERS, faces=FACES, weld=0.0, repair=True,
         known_as={"weld": ("faces",)}),
    good("lbm.read_mesh", path=Later(_mesh_file), weld=0.0, repair=True,
         known_as={"path": ("file", "a"), "weld": ("faces",)}),
    good("lbm.TriangleMesh.place", length=8.0, centre=(2.0, 2.0, 2.0), rotation=(0.0, 0.0, 90.0),
         minimum_thickness=1, owner=_mesh, takes_long=True),
    good("lbm.TriangleMesh.place by dx", dx=1.0, corner=(0.0, 0.0, 0.0), owner=_mesh,
         takes_long=True),
    good("lbm.TriangleMesh.cells", shape=SHAPE, owner=_mesh),
    good("lbm.TriangleMesh.frontal_area", direction=(1.0, 0.0, 0.0), owner=_mesh, takes_long=True),
    good("lbm.geometry.sphere", shape=SHAPE, centre=(2, 2, 2), radius=1.0),
    good("lbm.geometry.cylinder", shape=SHAPE, centre=(2, 2), radius=1.0, axis=2),
    good("lbm.geometry.heights", shape=SHAPE, surface=np.ones((4, 4))),
    good("lbm.geometry.centres", shape=SHAPE),
    good("lbm.Simulation", shape=SHAPE, collision=lbm.TRT(0.8), boundaries={"y": lbm.NoSlip()},
         force=(0.0, 0.0, 0.0), sponges={}, scalars={}, rho=1.0, u=(0.0, 0.0, 0.0), lattice="D3Q19",
         pattern="esoteric", dtype="float32", storage=None, ratio=0.0, check=500,
         keep_good_state=True, comm=None, decomposition="auto", device="cpu",
         untold=("keep_good_state",), nonsense={"dtype": ("type",), "storage": ("type",)},
         takes_functions=("rho", "u"), takes_long=True),
    good("lbm.Simulation.run", steps=1, callbacks=(), progress=False, owner=_flow,
         untold=("progress",), endless={"steps": ("2^31",)}, takes_long=True),
    good("lbm.Simulation.run with a callback", _run_with, callback=print,
         known_as={"callback": ("callbacks",)}, takes_functions=("callback",)),
    good("lbm.Simulation.advance", steps=1, owner=_flow, endless={"steps": ("2^31",)}),
    good("lbm.Simulation.set", rho=1.0, u=(0.0, 0.0, 0.0), owner=_flow,
         takes_functions=("rho", "u")),
    good("lbm.Simulation.gather", field="rho", owner=_flow),
    good("lbm.Simulation.force_on", lambda **a: _flow().run(1).force_on(**a), name="block"),
    good("lbm.Simulation.wall_shear", name="block", owner=_flow),
    good("lbm.Simulation.torque_on", lambda **a: _flow().run(1).torque_on(**a), name="block",
         centre=(2, 2, 2)),
    good("lbm.Simulation.save", path=Later(lambda: _folder() / "a.state"), owner=_flow,
         known_as={"path": ("file", "folder", "name")}),
    good("lbm.Simulation.restore", path=Later(lambda: _flow().save(_folder() / "a.state")),
         owner=_flow, known_as={"path": ("checkpoint", "a.state")}),
    good("lbm.Simulation.write_vtk", path=Later(lambda: _folder() / "a.vti"), units=None,
         derived=("q",), owner=_flow),
    good("lbm.Simulation.to_xarray", units=None, derived=("q",), owner=_flow),
    good("lbm.Simulation.plot", owner=_flow, axis="z", index=1, field="speed", ax=None,
         takes_long=True),
    good("lbm.wind_tunnel", body=Later(_mesh), speed=10.0, length=1.0, cells=8, fluid="air",
         flow="x", up="z", incidence=0.0, yaw=0.0, ground="fixed", clearance=0.1, area="frontal",
         margins=(1.0, 1.0, 1.0), collision="auto", ends="auto", wall="auto", lattice_speed=0.1,
         repair=False, minimum_thickness=0, takes_long=True),
    good("lbm.flows.cavity", n=8, reynolds=10.0, speed=0.1, takes_long=True),
    good("lbm.flows.solve_cavity", n=8, reynolds=10.0, speed=0.1, tolerance=1e-2, turns=0.1,
         takes_long=True),
    good("lbm.flows.sphere", diameter=4, reynolds=10.0, speed=0.06, width=4.0, length=6.0,
         magic=None, takes_long=True),
    good("lbm.flows.terrain", height=12, stride=40, speed=0.05, tau=0.8, takes_long=True),
    good("lbm.flows.vortices", n=8, speed=0.05, tau=0.7, nz=2, takes_long=True),
]  # fmt: skip


NOT_CALLED = {
    "TunnelResult", "WindTunnel", "TunnelResult.by_area", "WindTunnel.run",
    "Decomposition.bounds", "Simulation.mark_changed", "Solid.cells_around", "Solid.mask",
    "Statistics.resume", "CheckpointError", "Collision", "Condition",
    "EddyViscosityModel", "FreeSlip", "NoSlip",
    "Lattice", "Periodic", "Shape", "UnstableError", "flows",
    *(f"{shape}.distances" for shape in
      ("Box", "Cylinder", "HalfSpace", "Shape", "Sphere", "TriangleMesh")),
    *(f"{wall}.{method}" for wall in
      ("Condition", "FreeSlip", "FreeStream", "MovingWall", "NonReflectingInlet",
       "NonReflectingOutlet", "NoSlip", "Periodic", "PressureOutlet", "VelocityInlet")
      for method in ("at", "parameters", "reference_respond", "reference_return", "start_memory")),
    *(f"{motion}.{method}" for motion in ("Rotation", "Translation")
      for method in ("angle_at", "displacement_at")),
    "Simulation.start_companions", "Simulation.without_half_force",
    "WallShear", "geometry", "launcher",
    *(f"{operator}.{method}" for operator in
      ("BGK", "CentralMoments", "Collision", "EddyViscosityModel", "RecursiveRegularized",
       "Regularized", "Smagorinsky", "SmagorinskyBGK", "SmagorinskyRecursive", "TRT",
       "Vreman", "VremanBGK", "VremanRecursive", "VremanCentralMoments")
      for method in ("reference_collide", "relax", "relax_moments", "relax_pairs",
                     "stability_limit", "suited_to")),
    *(f"{model}.{method}" for model in ("EddyViscosityModel", "Vreman", "VremanBGK",
                                        "VremanRecursive", "VremanCentralMoments")
      for method in ("eddy_viscosity", "reference_viscosity")),
}  # fmt: skip
"""Public names that users do not call, or with no argument: errors, types, plain walls."""
