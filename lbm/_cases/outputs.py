"""The files of a running case: VTK, checkpoints, tables of probes and forces, statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from hetero.atomic_files import replace_atomically
from lbm._cases.case import Case
from lbm._io.vtk import require_pyevtk
from lbm.callbacks import Every, Probe, Statistics
from lbm.simulation import Simulation

CHECKPOINT, PROBES, FORCES, STATISTICS = (
    *("checkpoint.state", "probes.csv", "forces.csv"),
    "statistics.npz",
)
"""Names of files in the folder of a case."""


class Recorder:
    """Writes the files of a case while it runs, and at its end.

    Parameters
    ----------
    case : Case
    simulation : the flow at its start, or restored from a checkpoint
    """

    def __init__(self, case: Case, simulation: Simulation):
        self.case, self.simulation, self.files = case, simulation, dict[Path, None]()
        outputs, self._tables = case.outputs, list[TextIO]()
        outputs.folder.mkdir(parents=True, exist_ok=True)
        if outputs.vtk:
            require_pyevtk()
        if outputs.probes:
            Probe(outputs.probes)(simulation)  # probes in solids are reported before the run
        self._statistics = (
            Statistics(outputs.statistics_every, outputs.statistics_start)
            if outputs.statistics_every
            else None
        )
        self.callbacks = self._make_callbacks()

    def _make_callbacks(self) -> list[Callable[[Simulation], object]]:
        """Return the callbacks of the run."""
        outputs = self.case.outputs
        callbacks: list[Callable[[Simulation], object]] = []
        if outputs.probes:
            callbacks.append(Every(outputs.probes_every, self._write_probes(outputs.probes)))
        if outputs.forces:
            callbacks.append(Every(outputs.forces_every, self._write_forces(outputs.forces)))
        if self._statistics is not None:
            callbacks.append(self._statistics)
        if outputs.vtk:
            callbacks.append(Every(outputs.vtk, self._write_vtk))
        if outputs.checkpoint:
            callbacks.append(Every(outputs.checkpoint, self._save))
        if self.case.steady is not None:
            callbacks.append(self.case.steady)
        return callbacks

    def finish(self) -> None:
        """Write what is due at the end of a run, and close all tables."""
        outputs, steps = self.case.outputs, self.simulation.steps
        if outputs.vtk and steps % outputs.vtk:
            self._write_vtk(self.simulation)
        if outputs.checkpoint and steps % outputs.checkpoint:
            self._save(self.simulation)
        if self._statistics is not None and self._statistics.samples:
            self._write_statistics(self._statistics)
        self.close()

    def close(self) -> None:
        """Close all tables."""
        for file in self._tables:
            file.close()

    # ---- fields, in lattice units -----------------------------------------------------------

    def _write_vtk(self, simulation: Simulation) -> None:
        units = self.case.scales.units
        path = self.case.outputs.folder / f"flow-{simulation.steps:08d}"
        spacing = 1.0 if units is None else units.dx
        self.files[simulation.write_vtk(path, spacing=spacing)] = None

    def _save(self, simulation: Simulation) -> None:
        self.files[simulation.save(self.case.outputs.folder / CHECKPOINT)] = None

    def _write_statistics(self, statistics: Statistics) -> None:
        s, path = self.simulation, self.case.outputs.folder / STATISTICS
        names = "mean_rho", "mean_u", "variance_rho", "variance_u"
        fields = {name: s.gather(getattr(statistics, name)) for name in names}
        self.files[path] = None
        if s.rank == 0:
            arrays: dict[str, Any] = {"samples": statistics.samples, **fields}
            if (units := self.case.scales.units) is not None:
                arrays |= {"dx": units.dx, "dt": units.dt, "density": units.density}
            with replace_atomically(path) as part, part.open("wb") as file:
                np.savez(file, **arrays)

    # ---- tables, in SI if the case has units ------------------------------------------------

    def _write_probes(self, cells: Sequence[Sequence[int]]) -> Callable[[Simulation], None]:
        """Return a callback that appends the values in cells to a table."""
        units = self.case.scales.units
        names = ("rho", "ux", "uy", "uz") if units is None else ("pressure", "ux", "uy", "uz")
        marks = ["" if units is None else mark for mark in (" (Pa)", *[" (m/s)"] * 3)]
        heads = [
            f"{name} at {x} {y} {z}{mark}"
            for x, y, z in cells
            for name, mark in zip(names, marks, strict=True)
        ]
        write = self._open_table(PROBES, heads)

        def sample(simulation: Simulation) -> None:
            probe = Probe(cells)
            probe(simulation)
            values = probe.values[0]
            if units is not None:
                pressure = units.to_physical(pressure=1.0) * (values[:, :1] - 1.0)
                values = np.hstack([pressure, units.to_physical(speed=1.0) * values[:, 1:]])
            write(simulation, values.ravel())

        return sample

    def _write_forces(self, solids: Sequence[str]) -> Callable[[Simulation], None]:
        units = self.case.scales.units
        mark, scale = ("", 1.0) if units is None else (" (N)", units.to_physical(force=1.0))
        write = self._open_table(FORCES, [f"{s} f{axis}{mark}" for s in solids for axis in "xyz"])

        def sample(simulation: Simulation) -> None:
            forces = [scale * simulation.force_on(solid) for solid in solids]
            write(simulation, np.concatenate(forces))

        return sample

    def _open_table(
        self, name: str, heads: Sequence[str]
    ) -> Callable[[Simulation, np.ndarray], None]:
        """Return a function that adds a row; after a restart later rows of the file are dropped."""
        path, units = self.case.outputs.folder / name, self.case.scales.units
        self.files[path] = None
        if self.simulation.rank:
            return lambda simulation, values: None
        heads = ["step", *([] if units is None else ["time (s)"]), *heads]
        rows = _rows_until(path, ",".join(heads), self.simulation.steps)
        file = path.open("w", encoding="utf-8", newline="\n")
        self._tables.append(file)
        file.writelines([",".join(heads) + "\n", *rows])

        def write(simulation: Simulation, values: np.ndarray) -> None:
            step = simulation.steps
            time = [] if units is None else [units.to_physical(steps=step)]
            file.write(",".join([str(step), *(repr(float(v)) for v in (*time, *values))]) + "\n")
            file.flush()

        return write


def _rows_until(path: Path, head: str, step: int) -> list[str]:
    """Return the rows of a table of the same columns, up to a step; none at step 0."""
    if not step or not path.is_file():
        return []
    first, *rows = path.read_text(encoding="utf-8").splitlines(keepends=True) or [""]
    if first.rstrip("\n") != head:
        return []
    return [row for row in rows if row.endswith("\n") and int(row.partition(",")[0]) <= step]
