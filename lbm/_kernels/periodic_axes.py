"""The axes along which a domain is periodic, and the cells beside a block, by its walls."""

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


def classes_with_halo(links: Links, z0: int, z1: int) -> np.ndarray:
    """Return the classes of the layers z0 <= z < z1 and of the two layers beside them.

    Layers beyond the ends of a domain that is not periodic are solid.
    """
    z, nz = np.arange(z0 - 1, z1 + 1), len(links.classes)
    classes = links.classes[z % nz]
    if not find_periodic_axes(links)[2]:
        classes[(z < 0) | (z >= nz)] = SOLID_CLASS
    return classes
