"""The axes along which populations pass from one end of a domain to the other."""

from __future__ import annotations

import numpy as np

from lbm.geometry.wall_links import INTO, SOLID_CLASS, Links


def find_periodic_axes(links: Links) -> tuple[bool, bool, bool]:
    """Return for x, y and z whether a population leaves the domain and enters at its other end.

    It does not where all links that leave fluid cells end at walls.
    """
    c, into = np.array(links.lattice.velocities), links.bits(INTO)
    periodic = []
    for axis in range(3):
        present = np.unique(links.classes.take(0, axis=2 - axis))
        leaving = into[np.ix_(present[present != SOLID_CLASS], c[:, axis] < 0)]
        periodic.append(not leaving.all())
    return periodic[0], periodic[1], periodic[2]
