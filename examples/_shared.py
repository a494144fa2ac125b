"""Rows of the tour's table, figures, options and device memory, shared by all examples."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import hetero
from hetero.devices import parse as parse_device


@dataclass(frozen=True)
class Row:
    """One line of the tour's table.

    Attributes
    ----------
    job : the work that was done, with its size
    device : the device that did it
    rate : work per second in `unit`; None if the job did not finish
    fraction_of_limit : the rate over this machine's `limit`; None if nothing simple limits the job
    check : the comparison with a known truth, with its numbers and their units
    passed : the outcome of the check
    tolerance : what is allowed, and why this much
    """

    job: str
    device: str
    rate: float | None
    unit: str
    fraction_of_limit: float | None
    limit: str
    check: str
    passed: bool
    tolerance: str = ""

    @property
    def rate_text(self) -> str:
        """Rate with its unit, or a dash."""
        if self.rate is None:
            return "–"
        return (
            f"{self.rate:,.0f} {self.unit}" if self.rate >= 1000 else f"{self.rate:.3g} {self.unit}"
        )

    @property
    def share_text(self) -> str:
        """Fraction of the limit in percent, or a dash."""
        if self.fraction_of_limit is None:
            return "–"
        percent = 100 * self.fraction_of_limit
        return f"{percent:.0f} %" if percent >= 10 else f"{percent:.2g} %"

    @property
    def verdict(self) -> str:
        """Outcome of the check as a word."""
        return "pass" if self.passed else "FAIL"


@dataclass(frozen=True)
class Figure:
    """A PNG file for the tour's page.

    Attributes
    ----------
    title, caption : what the picture shows, and how to read it
    path : the file
    command : what to run next, without the folder of the programs
    sources : keys of the works in docs/references.bib that the picture rests on
    """

    title: str
    caption: str
    path: Path
    command: str = ""
    sources: tuple[str, ...] = ()


def parse_arguments(description: str, out: str) -> argparse.Namespace:
    """Parse the options of an example, `device`, `out` and `quick`, and create the folder `out`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--device", default="auto", metavar="cpu|cuda|auto", help="the device that computes"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(out),
        metavar="DIR",
        help="the folder for figures (default: %(default)s)",
    )
    parser.add_argument("--quick", action="store_true", help="use small sizes")
    arguments = parser.parse_args()
    try:
        if (device := parse_device(arguments.device)) is not None:
            device.require()
    except (ValueError, hetero.DeviceUnavailableError) as error:
        parser.error(str(error))
    arguments.out.mkdir(parents=True, exist_ok=True)
    return arguments


def require_cpu(device: str, reason: str) -> None:
    """End the program if `--device` asks for a GPU and the example has nothing for one."""
    if device not in ("auto", "cpu"):
        raise SystemExit(f"--device: this example runs on the CPU only, because {reason}")


def empty(size: int, device: hetero.Device):
    """Allocate `size` float64 numbers: a NumPy array, or an array that stays on the GPU."""
    if device.kind == "cpu":
        return np.empty(size)
    from numba import cuda

    with device.active():
        return cuda.device_array(size, np.float64)


def to_host(array) -> np.ndarray:
    """Return `array` as a NumPy array."""
    return array.copy_to_host() if hasattr(array, "copy_to_host") else np.asarray(array)
