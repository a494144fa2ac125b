"""Results of commands: as JSON, and files that are kept elsewhere if they cannot be written."""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

_failures: ContextVar[list[str] | None] = ContextVar("hetero_output_failures", default=None)


@contextlib.contextmanager
def collected_failures() -> Iterator[list[str]]:
    """Yield a list to which `save_output` appends what could not be written in the block."""
    failures: list[str] = []
    token = _failures.set(failures)
    try:
        yield failures
    finally:
        _failures.reset(token)


def save_output(path: Path, write: Callable[[Path], Any]) -> Path:
    """Write a result by `write(path)`; if that fails, to a file of that name in another folder.

    A command goes on after a failure, so that its other results are written, too. `run_command`
    says at the end where the result is, and ends with exit code 2.

    Returns
    -------
    Path : the file that was written

    Raises
    ------
    OSError : writing has failed outside `run_command`
    """
    try:
        write(path)
        return path
    except OSError as error:
        failures = _failures.get()
        if failures is None:
            raise
        reason = f"{path}: {error.strerror or error}"
    other_path = _write_elsewhere(path.name, write)
    where = (
        "and to no other folder either"
        if other_path is None
        else f"so the result is in {other_path}"
    )
    failures.append(f"{reason}; {where}")
    return other_path or path


def _write_elsewhere(name: str, write: Callable[[Path], Any]) -> Path | None:
    """Write a file to a new folder for temporary files, or in the user's; None if both fail."""
    for parent in (None, Path.home()):  # None stands for the system's folder
        with contextlib.suppress(OSError):
            folder = Path(tempfile.mkdtemp(prefix="heterokit-", dir=parent))
            try:
                write(folder / name)
                return folder / name
            except OSError:
                shutil.rmtree(folder, ignore_errors=True)
    return None


def print_json(result: Mapping[str, Any]) -> None:
    """Print a result as JSON; NaN is null, and infinity the text "Infinity"."""
    print(json.dumps(as_plain(result), indent=1, allow_nan=False))


def as_plain(value: Any) -> Any:
    """Return a value made of what JSON knows; arrays become lists, unknown objects texts."""
    if isinstance(value, Mapping):
        return {str(key): as_plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("Infinity" if value > 0.0 else "-Infinity")
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
