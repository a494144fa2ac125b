"""Sponges and ends that follow the flow, and what drives a flow that they brake until they do.

Their targets are running means over `averaging` steps that begin with the start of the flow. A flow
that starts at rest, or an inlet that changes later, meets the targets of before.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from lbm.boundaries import FACES, Condition, Enclosure
from lbm.boundaries.sponge import Sponge
from lbm.geometry.wall_types import HALF_STEP
from lbm.lattices.extent import Triple

STEADY = 0.05
"""Share of its largest flow rate by which an inlet may change without a warning."""

SAMPLES = 9
"""Times within `averaging` steps at which the flow rate of an inlet is taken."""


def warn_of_slow_targets(
    enclosure: Enclosure, sponges: Mapping[str, Sponge], has_force: bool, at_rest: bool
) -> None:
    """Warn if sponges or outlets follow a flow that starts at rest, or whose inlets change."""
    following = {f"sponges[{k!r}]": s.averaging for k, s in sponges.items() if s.u is None}
    for name, end in zip(FACES, enclosure.faces, strict=True):
        if end.follows_over is not None:
            following[f"boundaries[{name!r}]"] = end.follows_over
    if not following:
        return
    conditions = enclosure.conditions.values()
    has_inlet = any(condition.is_inlet for condition in conditions)
    densities = {end.prescribed for end in conditions if end.is_outlet}
    steps = max(following.values())
    causes = [
        f"boundaries[{FACES[k]!r}] changes with time"
        for k, inlet in enumerate(enclosure.faces)
        if inlet.is_inlet and _changes(inlet, k, enclosure.shape, steps)
    ]
    if at_rest and (has_inlet or has_force or len(densities) > 1):
        causes.insert(0, "the flow starts at rest")
    if causes:
        names, verb = " and ".join(following), "follows" if len(following) == 1 else "follow"
        warnings.warn(
            f"{names} {verb} the velocity of the flow over averaging={steps:g} steps from that of "
            f"the start, but {' and '.join(causes)}: until the mean has followed, the flow is "
            "braked and its pressure rises. Start from u=... near the flow to come, give a sponge "
            "its target u=..., or a smaller averaging",
            stacklevel=4,
        )


def _changes(inlet: Condition, face: int, shape: Triple, steps: float) -> bool:
    """Return whether the flow rate of an inlet across a face changes within some steps.

    Eddies do not change that of their mean.
    """
    if not inlet.depends_on.time or hasattr(inlet.prescribed, "fluctuations"):
        return False
    axis, at_end = divmod(face, 2)
    coordinates = [np.arange(n) + 0.5 for n in shape]
    coordinates[axis] = np.array([float(shape[axis] * at_end)])
    points = np.stack([p.ravel() for p in np.meshgrid(*coordinates, indexing="ij")], axis=1)
    rates = []
    for t in HALF_STEP + np.linspace(0.0, steps, SAMPLES):
        try:
            rates.append(float(inlet.parameters(points, t)[:, 2 + axis].mean()))
        except Exception:  # the run may end before the function does
            break
    return float(np.ptp(rates)) > STEADY * float(np.abs(rates).max())
