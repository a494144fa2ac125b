"""Cylinder that sheds vortices, 2D-2 of Schaefer and Turek (1996): what its drag depends on.

Settings are changed one by one with few cells in the diameter; then the cells grow, and the limit
follows from the last three sizes. Walls are interpolated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from hetero.devices import Device
from lbm import TRT, CentralMoments, Collision, NonReflectingOutlet, RecursiveRegularized
from studies.lbm.bodies import SHEDDING, SHEDDING_SPEED, make_channel, measure_shedding
from studies.study import Study


class Setting(NamedTuple):
    """A change of one thing.

    Attributes
    ----------
    name : words for the table
    collision : function of tau that returns the operator
    shift : cells by which the cylinder is further from the inlet and from the floor
    slower : factor of the number of steps, and divisor of the speed
    reflects : whether the outlet reflects
    """

    name: str
    collision: Callable[[float], Collision] = TRT
    shift: float = 0.0
    slower: int = 1
    reflects: bool = True


def _magic(value: float) -> Callable[[float], Collision]:
    """Return a function of tau that returns TRT with a magic parameter."""
    return partial(TRT, magic=value)


SETTINGS = (
    Setting("TRT, magic 3/16"),
    Setting("half of the speed", slower=2),
    Setting("a quarter of the speed", slower=4),
    Setting("an outlet that does not reflect", reflects=False),
    Setting("a quarter of a cell further", shift=0.25),
    Setting("half a cell further", shift=0.5),
    Setting("magic 1/12", _magic(1 / 12)),
    Setting("magic 0.03", _magic(0.03)),
    Setting("magic 0.03, a quarter of a cell further", _magic(0.03), shift=0.25),
    Setting("magic 0.03, half a cell further", _magic(0.03), shift=0.5),
    Setting("magic 0.01", _magic(0.01)),
    Setting("recursive regularized", RecursiveRegularized),
    Setting("central moments", CentralMoments),
    Setting("central moments, half a cell further", CentralMoments, shift=0.5),
)
"""Settings with CELLS in the diameter."""

CELLS = 20
"""Cells in the diameter for the settings."""

REFINED = SETTINGS[0], SETTINGS[7], SETTINGS[10], SETTINGS[12]
"""Settings with more cells."""

DIAMETERS = {"cuda": (20, 30, 40), "cpu": (20, 30)}
"""Cells in the diameter by the kind of the device: 40 would take an hour on a CPU, and 60 for all
settings a quarter of an hour on an H200, beside eleven minutes for the others."""


def run(study: Study) -> dict:
    """Compute all settings, and the limits of some of them."""
    device, settings, refined = study.device, list(SETTINGS), list(REFINED)
    sizes, paths, cells = DIAMETERS[device.kind], (60.0, 20.0), CELLS
    if study.quick:
        settings, refined, paths, cells = settings[:2], [], (1.0, 0.5), 10
    heads = "change", *SHEDDING
    rows = ((s.name, *solve(s, cells, device, paths)) for s in settings)
    study.table(f"{cells} cells in the diameter, one change at a time", heads, rows)
    found: dict[str, list[tuple[float, ...]]] = {s.name: [] for s in refined}

    def grow() -> Iterator[tuple[Any, ...]]:
        for setting in refined:
            for d in sizes:
                found[setting.name].append(solve(setting, d, device, paths))
                yield setting.name, d, *found[setting.name][-1]

    study.table("More cells", ("setting", "cells", *SHEDDING), grow())
    limits = [
        (name, quantity, *extrapolate(sizes, [values[k] for values in series]), *interval)
        for name, series in found.items()
        for k, (quantity, interval) in enumerate(SHEDDING.items())
    ]
    names = "setting", "quantity", "order", "limit", "limit at order 2"
    study.table("Limits of the last sizes", (*names, "published from", "to"), limits)
    return {
        "limits": {f"{name}, {quantity}": second for name, quantity, _, _, second, *_ in limits}
    }


def solve(
    setting: Setting, d: int, device: Device, paths: tuple[float, float]
) -> tuple[float, float, float]:
    """Return the numbers of SHEDDING of a setting with d cells in the diameter."""
    speed = SHEDDING_SPEED / d / setting.slower
    outlet = None if setting.reflects else NonReflectingOutlet()
    s = make_channel(d, 100.0, speed, "interpolated", device, collision=setting.collision,
                     outlet=outlet, shift=setting.shift)  # fmt: skip
    return measure_shedding(s, d, speed, paths)


def extrapolate(
    sizes: Sequence[int], values: Sequence[float]
) -> tuple[float | None, float | None, float]:
    """Return the order of convergence, the limit at this order, and the limit at order 2.

    The first two are those of the last three sizes, a x 1/n^p + limit through all of them, and None
    where the values do not approach a limit. The third is that of the last two.
    """
    (m, n), (before, last) = sizes[-2:], values[-2:]
    second = (n**2 * last - m**2 * before) / (n**2 - m**2)
    if len(sizes) < 3:
        return None, None, second
    k, first = sizes[-3], values[-3]
    if (first - before) * (before - last) <= 0.0:
        return None, None, second
    wanted = (first - before) / (before - last)

    def ratio(p: float) -> float:
        return (k**-p - m**-p) / (m**-p - n**-p)

    low, high = 0.1, 8.0
    if not ratio(low) < wanted < ratio(high):
        return None, None, second
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if ratio(middle) < wanted else (low, middle)
    share = m**-low / (m**-low - n**-low)
    return low, before - share * (before - last), second
