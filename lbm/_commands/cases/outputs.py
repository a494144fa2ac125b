"""The files of a running case: VTK, pictures, checkpoints, tables, statistics."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from hetero.data_files.atomic_files import replace_atomically
from lbm._commands.cases.case import Case
from lbm._commands.cases.coefficients import summarize_forces
from lbm._commands.cases.folder import (
    CHECKPOINT,
    FLOW,
    FORCES,
    HEAT,
    SERIES,
    STATISTICS,
    STATISTICS_STATE,
    image_stem,
    list_images,
    picture_name,
)
from lbm._commands.cases.integrals import summarize_integrals
from lbm._commands.cases.output_settings import PictureSettings, SampledTable
from lbm._commands.cases.restarts import (
    ROWS,
    read_sums,
    require_same_facts,
    write_facts,
    write_sums,
)
from lbm._io.vtk import require_pyevtk, write_series
from lbm._tunnel.averages import Estimate
from lbm.callbacks import Every, Statistics
from lbm.simulation import Simulation


class Recorder:
    """Writes the files of a case while it runs, and at its end.

    Its creation checks the files that a restart continues, and changes none; `open` begins.

    Parameters
    ----------
    case : Case
    simulation : the flow at its start, or restored from a checkpoint
    restart : the checkpoint; the statistics beside it continue
    """

    def __init__(self, case: Case, simulation: Simulation, restart: Path | None = None):
        self.case, self.simulation, self.files = case, simulation, dict[Path, None]()
        outputs, self._tables = case.outputs, dict[Path, TextIO]()
        self._rows: dict[Path, list[str]] = {}
        if outputs.vtk:
            require_pyevtk()
        if outputs.flow is not None:
            outputs.flow.require_fluid(simulation)
        self._images: list[tuple[int, Path]] = []
        settings = outputs.statistics
        self._statistics = None if settings is None else Statistics(settings.every, settings.start)
        if restart is not None:
            with simulation.domain.ranks.agreeing():
                if self._statistics is not None and restart.with_name(STATISTICS_STATE).is_file():
                    require_same_facts(restart.parent, case, ("units", "output.statistics"))
                require_same_facts(outputs.folder, case, ROWS)
        if self._statistics is not None and restart is not None:
            read_sums(restart.with_name(STATISTICS_STATE), self._statistics, simulation)
        if restart is not None and case.steady and simulation.steps % case.steady.every == 0:
            case.steady(simulation)  # what the next velocity is compared with
        self.callbacks = self._make_callbacks()

    def _make_callbacks(self) -> list[Callable[[Simulation], object]]:
        """Return the callbacks of the run."""
        outputs = self.case.outputs
        callbacks: list[Callable[[Simulation], object]] = []
        for name, table in outputs.tables.items():
            callbacks.append(Every(table.every, self._make_table(f"{name}.csv", table)))
        if self._statistics is not None:
            callbacks.append(self._statistics)
        if outputs.vtk:
            callbacks.append(Every(outputs.vtk, self._write_vtk))
        if outputs.pictures is not None:
            callbacks.append(Every(outputs.pictures.every, self._write_picture(outputs.pictures)))
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

    def summarize_forces(self) -> dict[str, Any]:
        """Return coefficients of the forces on each solid; nothing on ranks other than 0."""
        folder, forces = self.case.outputs.folder, self.case.outputs.forces
        if forces is None or forces.coefficients is None or self.simulation.rank:
            return {}
        return summarize_forces(folder / FORCES, forces.solids, forces.coefficients)

    def summarize_integrals(self) -> dict[str, tuple[Estimate, str]]:
        """Return means of flow rates, pressures and fluxes with their units; of rank 0."""
        outputs, means = self.case.outputs, dict[str, tuple[Estimate, str]]()
        for name, integrals in ((FLOW, outputs.flow), (HEAT, outputs.heat)):
            if integrals is not None and not self.simulation.rank:
                means |= summarize_integrals(outputs.folder / name, integrals)
        return means

    def close(self) -> None:
        """Close all tables."""
        for file in self._tables.values():
            file.close()

    # ---- fields, in SI if the case has units ------------------------------------------------

    def _write_vtk(self, simulation: Simulation) -> None:
        """Write an image, and the list of all images with their times."""
        folder, units = self.case.outputs.folder, self.case.scales.units
        image = simulation.write_vtk(
            folder / image_stem(simulation.steps), units=units, derived=self.case.outputs.derived
        )
        self.files[folder / SERIES] = self.files[image] = None
        if simulation.rank == 0:
            self._images.append((simulation.steps, image))
            self._write_series()

    def _write_series(self) -> None:
        """Write the list of all images with their times."""
        step_time, path = self.case.scales.physical(steps=1.0), self.case.outputs.folder / SERIES
        write_series(path, [(image, step_time * n) for n, image in self._images])

    def _write_picture(self, pictures: PictureSettings) -> Callable[[Simulation], None]:
        """Return a callback that draws a layer of cells and writes it as a PNG."""
        if importlib.util.find_spec("matplotlib") is None:
            raise ImportError("output.pictures needs matplotlib: pip install matplotlib")
        from hetero.display.figures import detached_figures

        def write(simulation: Simulation) -> None:
            path = self.case.outputs.folder / picture_name(simulation.steps)
            with detached_figures():
                figure = simulation.plot(
                    pictures.axis, pictures.layer, pictures.field, units=self.case.scales.units
                )
            self.files[path] = None
            if figure is not None:  # on rank 0
                with replace_atomically(path) as part:
                    figure.savefig(part, format="png", dpi=100)

        return write

    def _save(self, simulation: Simulation) -> None:
        folder = self.case.outputs.folder
        self.files[simulation.save(folder / CHECKPOINT)] = None
        if self._statistics is not None:
            write_sums(folder / STATISTICS_STATE, self._statistics, simulation)
            self.files[folder / STATISTICS_STATE] = None

    def _write_statistics(self, statistics: Statistics) -> None:
        s, path = self.simulation, self.case.outputs.folder / STATISTICS
        self.files[path] = None
        fields = {name: s.gather(array) for name, array in self._scaled(statistics).items()}
        if s.rank == 0:
            arrays: dict[str, Any] = {"samples": statistics.samples, "steps": s.steps, **fields}
            if (units := self.case.scales.units) is not None:
                arrays |= {"dx": units.dx, "dt": units.dt, "density": units.density}
            with replace_atomically(path) as part, part.open("wb") as file:
                np.savez(file, **arrays)

    def _scaled(self, statistics: Statistics) -> dict[str, np.ndarray]:
        """Return the means and the variances of this rank's cells."""
        s, units = statistics, self.case.scales.units
        if units is None:
            return {"mean_rho": s.mean_rho, "mean_u": s.mean_u,
                    "variance_rho": s.variance_rho, "variance_u": s.variance_u}  # fmt: skip
        pressure, speed = units.to_physical(pressure=1.0), units.to_physical(speed=1.0)
        return {"mean_pressure": s.mean_drho * pressure, "mean_u": s.mean_u * speed,
                "variance_pressure": s.variance_rho * pressure**2,
                "variance_u": s.variance_u * speed**2}  # fmt: skip

    # ---- tables, in SI if the case has units ------------------------------------------------

    def open(self) -> None:
        """Open the tables and the series of images, with those of an earlier run."""
        if self.simulation.rank == 0:
            write_facts(self.case)
            self._images = list_images(self.case.outputs.folder)
            if (self.case.outputs.folder / SERIES).exists():  # it may list images that are removed
                self._write_series()
        for path, rows in self._rows.items():
            self._tables[path] = path.open("w", encoding="utf-8", newline="\n")
            self._tables[path].writelines(rows)

    def _make_table(self, name: str, table: SampledTable) -> Callable[[Simulation], None]:
        """Return a callback that adds a row, and note the rows that the table begins with."""
        path, units = self.case.outputs.folder / name, self.case.scales.units
        self.files[path] = None
        heads = [f"{head} ({unit})" if unit else head for head, unit in table.columns]
        head = ",".join(["step", *([] if units is None else ["time (s)"]), *heads])
        if self.simulation.rank == 0:
            self._rows[path] = [f"{head}\n", *_rows_until(path, head, self.simulation.steps)]

        def write(simulation: Simulation) -> None:
            step, values = simulation.steps, table.sample(simulation)
            if path in self._tables:  # on rank 0
                time = [] if units is None else [units.to_physical(steps=step)]
                file = self._tables[path]
                file.write(
                    ",".join([str(step), *(repr(float(v)) for v in (*time, *values))]) + "\n"
                )
                file.flush()

        return write


def _rows_until(path: Path, head: str, step: int) -> list[str]:
    """Return the rows of a table up to a step; none at step 0.

    Raises ValueError if the table has other columns: their rows would be lost.
    """
    if not step or not path.is_file():
        return []
    first, *rows = path.read_text(encoding="utf-8").splitlines(keepends=True) or [head]
    if first.rstrip("\n") != head:
        raise ValueError(
            f"{path} has other columns than this case writes ({first.strip()}): restart with the "
            "case file of that run, or with another --out"
        )
    return [row for row in rows if row.endswith("\n") and int(row.partition(",")[0]) <= step]
