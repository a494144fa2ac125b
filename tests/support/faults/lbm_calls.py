"""Good calls of `lbm`."""

import functools
import tempfile
from pathlib import Path

import numpy as np

import lbm
from faults.judge import Call, close

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


def _simulation_arguments():
    return {
        "shape": SHAPE, "collision": lbm.TRT(0.8), "boundaries": {"y": lbm.NoSlip()},
        "force": (0.0, 0.0, 0.0), "sponges": {}, "scalars": {}, "rho": 1.0, "u": (0.0, 0.0, 0.0),
        "lattice": "D3Q19", "pattern": "esoteric", "dtype": "float32", "storage": None,
        "ratio": 0.0, "check": 500, "keep_good_state": True, "comm": None, "decomposition": "auto",
        "device": "cpu",
    }  # fmt: skip


def _run_with(callback):
    return _flow().run(1, callbacks=[callback])


CALLS = [
    Call("lbm.BGK", lbm.BGK, lambda: {"tau": 0.8}),
    Call("lbm.TRT", lbm.TRT, lambda: {"tau": 0.8, "magic": 0.1875}),
    Call("lbm.Smagorinsky", lbm.Smagorinsky,
         lambda: {"tau": 0.8, "constant": 0.1, "magic": 0.1875}),
    Call("lbm.SmagorinskyBGK", lbm.SmagorinskyBGK, lambda: {"tau": 0.8, "constant": 0.1}),
    Call("lbm.Vreman", lbm.Vreman,
         lambda: {"tau": 0.8, "constant": 0.07, "magic": 0.1875, "every": 4}),
    Call("lbm.VremanBGK", lbm.VremanBGK, lambda: {"tau": 0.8, "constant": 0.07, "every": 4}),
    Call("lbm.RecursiveRegularized", lbm.RecursiveRegularized, lambda: {"tau": 0.8}),
    Call("lbm.CentralMoments", lbm.CentralMoments, lambda: {"tau": 0.8}),
    Call("lbm.Decomposition", lbm.Decomposition,
         lambda: {"grid": (1, 1, 2), "weights": (None, None, (3, 1))},
         known_as={"grid": ("boxes", "box")}),
    Call("lbm.Every", lbm.Every, lambda: {"every": 1, "function": print},
         takes_functions=("function",)),
    Call("lbm.MovingWall", lbm.MovingWall, lambda: {"velocity": (0.1, 0.0, 0.0)}),
    Call("lbm.VelocityInlet", lbm.VelocityInlet, lambda: {"velocity": (0.1, 0.0, 0.0)}),
    Call("lbm.SyntheticEddies", lbm.SyntheticEddies,
         lambda: {"mean": (0.1, 0.0, 0.0), "intensity": 0.1, "length": 8.0, "count": 4, "seed": 0,
                  "speed": 0.1}, known_as={"intensity": ("intensity", "stresses")}),
    Call("lbm.PressureOutlet", lbm.PressureOutlet, lambda: {"rho": 1.0}),
    Call("lbm.NonReflectingInlet", lbm.NonReflectingInlet,
         lambda: {"velocity": (0.1, 0.0, 0.0), "averaging": 5000.0}),
    Call("lbm.NonReflectingOutlet", lbm.NonReflectingOutlet,
         lambda: {"rho": 1.0, "averaging": 5000.0}),
    Call("lbm.Probe", lbm.Probe, lambda: {"cells": [(1, 1, 1)], "every": 1}),
    Call("lbm.FixedValue", lbm.FixedValue, lambda: {"value": 1.0}),
    Call("lbm.FixedFlux", lbm.FixedFlux, lambda: {"flux": 1.0}),
    Call("lbm.Scalar", lbm.Scalar,
         lambda: {"diffusivity": 0.1, "boundaries": {"y": lbm.FixedValue(1.0)},
                  "buoyancy": (0.0, 1e-4, 0.0), "reference": 0.5, "magic": 0.25}),
    Call("lbm.Solid", lbm.Solid,
         lambda: {"cells": np.zeros(SHAPE, bool), "condition": lbm.NoSlip()},
         takes_functions=("cells",), known_as={"condition": ("solid",)}),
    Call("lbm.Solid, interpolated", lbm.Solid,
         lambda: {"cells": lbm.Sphere((2, 2, 2), 1.0), "condition": lbm.NoSlip(),
                  "wall": "interpolated"}, known_as={"cells": ("wall", "cells")}),
    Call("lbm.Sphere", lbm.Sphere, lambda: {"centre": (2.0, 2.0, 2.0), "radius": 1.0}),
    Call("lbm.Cylinder", lbm.Cylinder,
         lambda: {"centre": (2.0, 2.0), "radius": 1.0, "axis": "z"}),
    Call("lbm.Box", lbm.Box, lambda: {"low": (1.0, 1.0, 1.0), "high": (2.0, 3.0, 2.5)}),
    Call("lbm.HalfSpace", lbm.HalfSpace,
         lambda: {"point": (0.0, 1.0, 0.0), "normal": (0.0, 1.0, 0.5)}),
    Call("lbm.Sponge", lbm.Sponge,
         lambda: {"cells": 20, "u": (0.05, 0.0, 0.0), "rho": 1.0, "reflection": 0.01,
                  "averaging": 5000.0}, takes_functions=("u",)),
    Call("lbm.Statistics", lbm.Statistics, lambda: {"every": 10, "start": 0}),
    Call("lbm.SteadyState", lbm.SteadyState, lambda: {"tolerance": 1e-6, "every": 10}),
    Call("lbm.Units", lbm.Units, lambda: {"dx": 0.1, "dt": 0.1, "density": 1.0, "tau": 0.8}),
    Call("lbm.Units.choose", lbm.Units.choose,
         lambda: {"length": 1.0, "cells": 100, "speed": 1.0, "viscosity": 0.01, "density": 1.0,
                  "lattice_speed": 0.1, "flow": "walls"},
         known_as={"viscosity": ("tau", "Reynolds"), "length": ("Reynolds", "tau"),
                   "speed": ("Reynolds", "tau"), "lattice_speed": ("tau",)}),
    *(Call(f"lbm.Units.{method} by {name}",
           getattr(lbm.Units(0.1, 0.1, 1.0, 0.8), method), lambda name=name: {name: 1.0})
      for method, names in (
          ("to_lattice", ("speed", "acceleration", "time", "pressure")),
          ("to_physical", ("speed", "pressure", "force", "torque", "steps")))
      for name in names),
    Call("lbm.TriangleMesh", lbm.TriangleMesh,
         lambda: {"vertices": CORNERS, "faces": FACES, "weld": 0.0},
         known_as={"weld": ("faces",)}),
    Call("lbm.read_mesh", lbm.read_mesh, lambda: {"path": _mesh_file(), "weld": 0.0},
         known_as={"path": ("file", "a"), "weld": ("faces",)}),
    Call("lbm.TriangleMesh.place", lambda **a: _mesh().place(**a),
         lambda: {"length": 8.0, "centre": (2.0, 2.0, 2.0), "rotation": (0.0, 0.0, 90.0)},
         takes_long=True),
    Call("lbm.TriangleMesh.place by dx", lambda **a: _mesh().place(**a),
         lambda: {"dx": 1.0, "corner": (0.0, 0.0, 0.0)}, takes_long=True),
    Call("lbm.TriangleMesh.cells", lambda **a: _mesh().cells(**a), lambda: {"shape": SHAPE}),
    Call("lbm.TriangleMesh.frontal_area", lambda **a: _mesh().frontal_area(**a),
         lambda: {"direction": (1.0, 0.0, 0.0)}, takes_long=True),
    Call("lbm.geometry.sphere", lbm.geometry.sphere,
         lambda: {"shape": SHAPE, "centre": (2, 2, 2), "radius": 1.0}),
    Call("lbm.geometry.cylinder", lbm.geometry.cylinder,
         lambda: {"shape": SHAPE, "centre": (2, 2), "radius": 1.0, "axis": 2}),
    Call("lbm.geometry.heights", lbm.geometry.heights,
         lambda: {"shape": SHAPE, "surface": np.ones((4, 4))}),
    Call("lbm.geometry.centres", lbm.geometry.centres, lambda: {"shape": SHAPE}),
    Call("lbm.Simulation", lbm.Simulation, _simulation_arguments, untold=("keep_good_state",),
         nonsense={"dtype": ("type",), "storage": ("type",)}, takes_functions=("rho", "u"),
         takes_long=True),
    Call("lbm.Simulation.run", lambda **a: _flow().run(**a),
         lambda: {"steps": 1, "callbacks": (), "progress": False}, untold=("progress",),
         endless={"steps": ("2^31",)}, takes_long=True),
    Call("lbm.Simulation.run with a callback", _run_with, lambda: {"callback": print},
         known_as={"callback": ("callbacks",)}, takes_functions=("callback",)),
    Call("lbm.Simulation.advance", lambda **a: _flow().advance(**a), lambda: {"steps": 1},
         endless={"steps": ("2^31",)}),
    Call("lbm.Simulation.set", lambda **a: _flow().set(**a),
         lambda: {"rho": 1.0, "u": (0.0, 0.0, 0.0)},
         takes_functions=("rho", "u")),
    Call("lbm.Simulation.gather", lambda **a: _flow().gather(**a), lambda: {"field": "rho"}),
    Call("lbm.Simulation.force_on", lambda **a: _flow().run(1).force_on(**a),
         lambda: {"name": "block"}),
    Call("lbm.Simulation.wall_shear", lambda **a: _flow().wall_shear(**a),
         lambda: {"name": "block"}),
    Call("lbm.Simulation.torque_on", lambda **a: _flow().run(1).torque_on(**a),
         lambda: {"name": "block", "centre": (2, 2, 2)}),
    Call("lbm.Simulation.save", lambda path: _flow().save(path),
         lambda: {"path": _folder() / "a.state"},
         known_as={"path": ("file", "folder", "name")}),
    Call("lbm.Simulation.restore", lambda path: _flow().restore(path),
         lambda: {"path": _flow().save(_folder() / "a.state")},
         known_as={"path": ("checkpoint", "a.state")}),
    Call("lbm.Simulation.write_vtk", lambda **a: _flow().write_vtk(**a),
         lambda: {"path": _folder() / "a.vti", "units": None, "derived": ("q",)}),
    Call("lbm.Simulation.to_xarray", lambda **a: _flow().to_xarray(**a),
         lambda: {"units": None, "derived": ("q",)}),
    Call("lbm.Simulation.plot", lambda **a: close(_flow().plot(**a)),
         lambda: {"axis": "z", "index": 1, "field": "speed", "ax": None}, takes_long=True),
    Call("lbm.flows.cavity", lbm.flows.cavity, lambda: {"n": 8, "reynolds": 10.0, "speed": 0.1},
         takes_long=True),
    Call("lbm.flows.solve_cavity", lbm.flows.solve_cavity,
         lambda: {"n": 8, "reynolds": 10.0, "speed": 0.1, "tolerance": 1e-2, "turns": 0.1},
         takes_long=True),
    Call("lbm.flows.sphere", lbm.flows.sphere,
         lambda: {"diameter": 4, "reynolds": 10.0, "speed": 0.06, "width": 4.0, "length": 6.0,
                  "magic": None}, takes_long=True),
    Call("lbm.flows.terrain", lbm.flows.terrain,
         lambda: {"height": 12, "stride": 40, "speed": 0.05, "tau": 0.8}, takes_long=True),
    Call("lbm.flows.vortices", lbm.flows.vortices,
         lambda: {"n": 8, "speed": 0.05, "tau": 0.7, "nz": 2}, takes_long=True),
]  # fmt: skip


NOT_CALLED = {
    "Decomposition.bounds", "Simulation.mark_changed", "Solid.cells_around", "Solid.mask",
    "TriangleMesh.require_inside",
    "Statistics.resume", "CheckpointError", "Collision", "Condition",
    "EddyViscosityModel", "FreeSlip", "NoSlip",
    "Lattice", "Periodic", "Shape", "UnstableError", "flows",
    *(f"{shape}.distances" for shape in
      ("Box", "Cylinder", "HalfSpace", "Shape", "Sphere", "TriangleMesh")),
    *(f"{wall}.parameters" for wall in
      ("FreeSlip", "MovingWall", "NonReflectingInlet", "NonReflectingOutlet", "NoSlip",
       "PressureOutlet", "VelocityInlet")),
    "WallShear", "geometry", "launcher",
    *(f"{operator}.{method}" for operator in
      ("BGK", "CentralMoments", "Collision", "EddyViscosityModel", "RecursiveRegularized",
       "Smagorinsky", "SmagorinskyBGK", "TRT", "Vreman", "VremanBGK")
      for method in ("reference_collide", "relax", "relax_pairs", "stability_limit", "suited_to")),
    *(f"{model}.{method}" for model in ("EddyViscosityModel", "Vreman", "VremanBGK")
      for method in ("eddy_viscosity", "reference_viscosity")),
}  # fmt: skip
"""Public names that users do not call, or with no argument: errors, types, plain walls."""
