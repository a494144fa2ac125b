"""What the examples and the tour share: rows of the table, figures, options, memory on a device."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import hetero


@dataclass(frozen=True)
class Row:
    """One line of the tour's table.

    Attributes
    ----------
    job : what was done, with its size
    device : where
    rate : in `unit`; None where the job did not finish
    fraction_of_limit : of this machine's `limit`; None where nothing simple limits the job
    check : the comparison with a known truth, with its numbers
    passed : its outcome
    """

    job: str
    device: str
    rate: float | None
    unit: str
    fraction_of_limit: float | None
    limit: str
    check: str
    passed: bool

    @property
    def rate_text(self) -> str:
        if self.rate is None:
            return "–"
        return (
            f"{self.rate:,.0f} {self.unit}" if self.rate >= 1000 else f"{self.rate:.3g} {self.unit}"
        )

    @property
    def share_text(self) -> str:
        if self.fraction_of_limit is None:
            return "–"
        percent = 100 * self.fraction_of_limit
        return f"{percent:.0f} %" if percent >= 10 else f"{percent:.2g} %"

    @property
    def verdict(self) -> str:
        return "pass" if self.passed else "FAIL"


@dataclass(frozen=True)
class Figure:
    """A PNG file for the tour's page."""

    title: str
    caption: str
    path: Path


def parse_arguments(description: str, out: str) -> argparse.Namespace:
    """The options that every example has: `device`, `out` (a folder that now exists), `quick`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--device", default="auto", metavar="cpu|cuda|auto", help="where to compute"
    )
    parser.add_argument(
        "--out", type=Path, default=Path(out), metavar="DIR", help="default: %(default)s"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes")
    arguments = parser.parse_args()
    try:
        if (device := hetero.devices.parse(arguments.device)) is not None:
            device.require()
    except (ValueError, hetero.DeviceUnavailableError) as error:
        parser.error(str(error))
    arguments.out.mkdir(parents=True, exist_ok=True)
    return arguments


def empty(size: int, device: hetero.Device):
    """Memory for `size` float64 numbers: a NumPy array, or one that stays on the GPU."""
    if device.kind == "cpu":
        return np.empty(size)
    from numba import cuda

    with device.active():
        return cuda.device_array(size, np.float64)


def to_host(array) -> np.ndarray:
    """`array` as a NumPy array."""
    return array.copy_to_host() if hasattr(array, "copy_to_host") else np.asarray(array)
