"""The folder of a case's outputs: what earlier runs have left there, and the series of images."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from hetero.data_files.atomic_files import require_writable
from lbm._parallel.ranks.communication import Ranks

CHECKPOINT, PROBES, FORCES, FLOW, HEAT, STATISTICS, STATISTICS_STATE, SERIES, RUN_FACTS = _NAMES = (
    *("checkpoint.state", "probes.csv", "forces.csv", "flow.csv", "heat.csv"),
    *("statistics.npz", "statistics.state", "flow.pvd", "run.json"),
)
"""Names of files in the folder of a case."""

_IMAGE = re.compile(r"flow-(\d+)(\.\d+)?\.p?vti|picture-(\d+)\.png")


def image_stem(step: int) -> str:
    """Return the name of the image of a step, without a suffix."""
    return f"flow-{step:08d}"


def picture_name(step: int) -> str:
    """Return the name of the picture of a step."""
    return f"picture-{step:08d}.png"


def require_usable(folder: Path) -> None:
    """Raise OSError if a folder could not be made or written to; nothing is changed."""
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not nearest.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(nearest))
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(nearest))


def prepare_folder(folder: Path, ranks: Ranks, *, is_new: bool, overwrite: bool) -> None:
    """Make the folder of a run on rank 0, or raise the error on all ranks.

    A new run removes the files of an earlier one if it may `overwrite` them.
    """
    with ranks.agreeing():
        if ranks.rank == 0:
            folder.mkdir(parents=True, exist_ok=True)
            require_writable(folder / CHECKPOINT)
            if is_new and overwrite:
                _remove(_list_outputs(folder))
            elif is_new:
                require_unused(folder)


def remove_later_images(folder: Path, ranks: Ranks, step: int, vtk: int) -> None:
    """Remove images of later steps than that from which a run continues: it writes them again.

    That of this step goes, too, if it is not due every `vtk` steps: it was the last of its run.
    Pictures are written only where they are due.
    """
    last = image_stem(step) if vtk and step % vtk else None
    with ranks.agreeing():
        if ranks.rank == 0:
            files = _list_outputs(folder)
            _remove([p for p in files if _step_of(p) > step or p.name.partition(".")[0] == last])


def require_unused(folder: Path) -> None:
    """Raise ValueError if a folder holds files of an earlier run: two runs must not be mixed."""
    if not (earlier := _list_outputs(folder)):
        return
    others = f" and {len(earlier) - 1} more" if len(earlier) > 1 else ""
    raise ValueError(
        f"{folder} holds files of an earlier run ({earlier[0].name}{others}): pass --overwrite to "
        f"remove them, --restart {folder / CHECKPOINT} to continue that run, or another --out"
    )


def list_images(folder: Path) -> list[tuple[int, Path]]:
    """Return the steps and the paths of the images in a folder, without the pieces of ranks."""
    images = [(_step_of(path), path) for path in _list_outputs(folder) if _is_whole_image(path)]
    return sorted(images)


def _list_outputs(folder: Path) -> list[Path]:
    """Return the files in a folder that have the names of a case's outputs."""
    if not folder.is_dir():
        return []
    return sorted(p for p in folder.iterdir() if p.name in _NAMES or _IMAGE.fullmatch(p.name))


def _is_whole_image(path: Path) -> bool:
    match = _IMAGE.fullmatch(path.name)
    return match is not None and match[1] is not None and match[2] is None


def _step_of(path: Path) -> int:
    """Return the step of an image or a picture; -1 for other files."""
    match = _IMAGE.fullmatch(path.name)
    return -1 if match is None else int(match[1] or match[3])


def _remove(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
