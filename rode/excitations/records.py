"""Recorded ground motions from files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from hetero import validation
from rode.excitations.record import Record

UNITS = {"g": 9.80665, "cm/s2": 0.01, "m/s2": 1.0}
"""Units of acceleration in m/s^2."""

_TOLERANCE = 0.02
"""Largest relative difference of steps of a column of times, which files round."""

_REAL = r"[\d.]+(?:[eEdD][-+]?\d+)?"
"""Pattern of a number; that of Fortran's double precision has a D."""


def read_record(path: str | Path, *, units: str | None = None) -> Record:
    """Read a recorded motion, in m/s^2.

    Parameters
    ----------
    path : an .AT2 file of PEER's databases, or a text with columns of time in s and acceleration
        Lines that begin with # or a letter, and empty ones, are skipped in a text with columns.
    units : {"g", "cm/s2", "m/s2"}
        Unit of the numbers. It may be left out for .AT2 files, which are in g, unless their third
        line names another.

    Returns
    -------
    Record
        An excitation of `rode.additive`; its `values` (1, samples) and `dt` are what
        `rode.response_spectrum` takes.

    Raises
    ------
    OSError : the file cannot be read
    TypeError, ValueError
        The file has gaps, numbers that are not finite or fewer samples than its header says, or
        the unit of a text is not given; the message names file and line.
    """
    file = validation.check_path("path", path)
    if units is not None:
        validation.check_choice("units", units, tuple(UNITS))
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    if file.suffix.lower() == ".at2":
        values, dt = _read_at2(file, lines)
        _check_title(file, lines[2], units)
        return Record(values * UNITS[units or "g"], dt)
    if units is None:
        raise ValueError(
            f"units must be one of {', '.join(UNITS)} for {file}, which does not say in what unit "
            "its accelerations are"
        )
    values, dt = _read_columns(file, lines)
    return Record(values * UNITS[units], dt)


def _read_at2(file: Path, lines: list[str]) -> tuple[np.ndarray, float]:
    """Return the samples and the step of an .AT2 file: four lines of header, then numbers."""
    header = lines[3] if len(lines) > 3 else ""
    count = re.search(r"NPTS\s*=?\s*(\d+)", header, re.IGNORECASE)
    step = re.search(rf"DT\s*=?\s*({_REAL})", header, re.IGNORECASE)
    old = re.match(rf"\s*(\d+)\s+({_REAL})\s", header)  # without names
    if count and step:
        size, dt = int(count[1]), _number(file, 4, step[1])
    elif old:
        size, dt = int(old[1]), _number(file, 4, old[2])
    else:
        raise ValueError(
            f"{file}, line 4 must say NPTS= and DT=, as in the files of PEER, got {header!r}"
        )
    values = []
    for number, line in enumerate(lines[4:], 5):
        values += [_number(file, number, word) for word in line.split()]
    if len(values) < size:
        raise ValueError(f"{file} must have {size} samples as line 4 says, but has {len(values)}")
    return np.array(values[:size]), dt


def _check_title(file: Path, line: str, units: str | None) -> None:
    """Raise ValueError if the third line of an .AT2 file names no accelerations, or another unit
    than g while the caller gives none."""
    title = line.upper()
    if "ACCEL" not in title and ("VELOCITY" in title or "DISPLACEMENT" in title):
        raise ValueError(f"{file}, line 3 must be about accelerations, got {line.strip()!r}")
    unit = re.search(r"\bUNITS?\s+OF\s+(\S+)", line, re.IGNORECASE)
    if units is None and unit and unit[1].strip("().,;").upper() not in ("G", "GS", "G'S"):
        raise ValueError(
            f"{file}, line 3 says that the unit is {unit[1]}, not g: pass units=, one of "
            f"{', '.join(UNITS)}"
        )


def _read_columns(file: Path, lines: list[str]) -> tuple[np.ndarray, float]:
    """Return the samples and the step of a text with times and accelerations."""
    rows, numbers = [], []
    for number, line in enumerate(lines, 1):
        words = line.replace(",", " ").replace(";", " ").split()
        if not words or _is_remark(words[0]):
            continue
        if len(words) != 2:
            raise ValueError(
                f"{file}, line {number} must have a time and an acceleration, got {line.strip()!r}"
            )
        rows.append([_number(file, number, word) for word in words])
        numbers.append(number)
    if len(rows) < 2:
        raise ValueError(f"{file} must have at least two lines of time and acceleration")
    times, values = np.array(rows).T
    steps = np.diff(times)
    dt = float(np.median(steps))
    if not dt > 0.0 or (wrong := np.abs(steps - dt) > _TOLERANCE * dt).any():
        k = int(np.argmax(wrong)) if dt > 0.0 else 0
        raise ValueError(
            f"{file}, line {numbers[k + 1]} must be a step of {dt:g} s behind the line before, got "
            f"{steps[k]:g} s: fill the gap, or interpolate to equal steps"
        )
    return values, float((times[-1] - times[0]) / (len(times) - 1))


def _is_remark(word: str) -> bool:
    """Return whether a line that begins with this word is no sample: not one of NaN or infinity."""
    begins_a_number = word.lower().lstrip("+-") in ("nan", "inf", "infinity")
    return word.startswith("#") or (word[0].isalpha() and not begins_a_number)


def _number(file: Path, line: int, word: str) -> float:
    """Return a number of a file, which must be finite."""
    try:
        value = float(word.lower().replace("d", "e"))
    except ValueError:
        raise ValueError(f"{file}, line {line} must have numbers, got {word!r}") from None
    if not np.isfinite(value):
        raise ValueError(f"{file}, line {line} must have finite numbers, got {word!r}")
    return value
