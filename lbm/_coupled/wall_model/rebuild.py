"""Prototype: populations of cells beside modelled walls from points off the wall."""

from __future__ import annotations

import functools
import math
import os
from typing import Any

import numpy as np

from lbm._coupled.wall_model.formulas import KAPPA, SHIFT, friction_velocity
from lbm._kernels.formulas.storage_formulas import codec
from lbm.collisions.unroll import inlined
from lbm.lattices.precision import PRECISIONS

ON = os.environ.get("WM_MODE", "")  # "", "full", "part"
HREF = float(os.environ.get("WM_HREF", "2.5"))
OPTIONS = np.array([
    1.0 if ON == "part" else 0.0,
    float(os.environ.get("WM_RHO", "0")),   # 0 own mass, 1 near, 2: mean of both
    float(os.environ.get("WM_FNEQ", "1")),  # share of the non-equilibrium from differences
    float(os.environ.get("WM_UN", "1")),    # factor of the linear normal velocity
    float(os.environ.get("WM_SLIP", "0")),  # 1: no friction (tangential velocity of the reference)
    float(os.environ.get("WM_RELAX", "1")), # share of the new velocity against that of the cell
    float(os.environ.get("WM_ACCEL", "-1e9")), # least d ln u / ds in 1/cell
])
OBLIQUE = os.environ.get("WM_OBLIQUE", "0") == "1"  # only walls that are not along the lattice
LEE = os.environ.get("WM_LEE", "slip")  # what cells do that are not rebuilt: slip or bounce
NEAR = float(os.environ.get("WM_NEAR", "0"))  # cells from a sharp edge within which none is rebuilt
HYBRID = os.environ.get("WM_HYBRID", "0") == "1"
SKIP = os.environ.get("WM_EDGE", "1") == "skip"
EDGE = os.environ.get("WM_EDGE", "1") == "1"
MOMENTS: dict[int, Any] = {}


@inlined
def speed_by_law(friction, y, nu):
    """Return the speed at y for a friction velocity."""
    T = type(nu)
    target = friction * y / nu
    if target < T(1e-4):
        return friction * target
    logarithm = T(math.log(target))
    u = target
    if target > T(11.0):
        u = logarithm / T(KAPPA) + T(5.2)
    for _ in range(6):
        k = T(KAPPA) * u
        e = T(math.exp(k))
        value = u + T(SHIFT) * (e - T(1) - k * (T(1) + k * (T(0.5) + k * T(1.0 / 6.0))))
        slope = T(1) + T(SHIFT) * T(KAPPA) * (e - T(1) - k * (T(1) + T(0.5) * k))
        u = max(T(0.3) * u, u - value * (T(math.log(value)) - logarithm) / slope)
    return friction * u


@functools.cache
def make_rebuild(precision: str) -> Any:
    decode, encode = codec(PRECISIONS[precision])

    @inlined
    def rebuild(i, populations, loads, wall, returned, links, first, q_of, opposite,
                cells, geo, slope, near_i, near_w, far_i, far_w, moments, force, lattice, nu, options):
        T = type(nu)
        for k in range(5):
            force[k, i] = T(0)
        if geo[6, i] < T(0.5):
            return
        drho = ox = oy = oz = T(0)
        for q in range(loads.shape[0]):
            f = decode(populations[loads[q, i]])
            drho += f
            ox += lattice[0, q] * f
            oy += lattice[1, q] * f
            oz += lattice[2, q] * f
        nx, ny, nz = geo[7, i], geo[8, i], geo[9, i]
        px = py = pz = T(0)
        for k in range(8):
            a, b = moments[0, near_i[k, i]], moments[0, far_i[k, i]]
            px += slope[k, i] * a + slope[k + 8, i] * b
            py += slope[k + 16, i] * a + slope[k + 24, i] * b
            pz += slope[k + 32, i] * a + slope[k + 40, i] * b
        r1 = x1 = y1 = z1 = x2 = y2 = z2 = T(0)
        for k in range(8):
            n, w = near_i[k, i], near_w[k, i]
            r1 += w * moments[0, n]
            x1 += w * moments[1, n]
            y1 += w * moments[2, n]
            z1 += w * moments[3, n]
            n, w = far_i[k, i], far_w[k, i]
            x2 += w * moments[1, n]
            y2 += w * moments[2, n]
            z2 += w * moments[3, n]
        away = nx * x2 + ny * y2 + nz * z2
        y, h = cells[6, i], geo[1, i]
        tx, ty, tz = x2 - away * nx, y2 - away * ny, z2 - away * nz
        speed = T(math.sqrt(tx * tx + ty * ty + tz * tz)) + T(1e-12)
        accelerated = -(px * tx + py * ty + pz * tz) / (T(3) * speed * speed * speed + T(1e-9))
        if accelerated < options[6]:
            return
        friction = friction_velocity(speed, h, nu)
        factor = speed_by_law(friction, y, nu) / speed
        if options[4] > T(0.5):
            factor = T(1)
        a = (tx * cells[0, i] + ty * cells[1, i] + tz * cells[2, i]) * factor
        b = (tx * cells[3, i] + ty * cells[4, i] + tz * cells[5, i]) * factor
        p = geo[3, i] * a + geo[4, i] * b
        s = geo[4, i] * a + geo[5, i] * b
        normal = options[3] * away * max(T(0), geo[0, i]) / h
        ux = p * cells[0, i] + s * cells[3, i] + normal * nx
        uy = p * cells[1, i] + s * cells[4, i] + normal * ny
        uz = p * cells[2, i] + s * cells[5, i] + normal * nz
        if options[5] < T(1):
            o = options[5]
            ux = o * ux + (T(1) - o) * ox / (T(1) + drho)
            uy = o * uy + (T(1) - o) * oy / (T(1) + drho)
            uz = o * uz + (T(1) - o) * oz / (T(1) + drho)
        own = drho
        force[4, i] = T(1)
        if options[1] > T(1.5):
            drho = T(0.5) * (drho + r1)
        elif options[1] > T(0.5):
            drho = r1
        rho = T(1) + drho
        step = geo[2, i]
        gx, gy, gz = (x1 - ux) / step, (y1 - uy) / step, (z1 - uz) / step
        trace = (nx * gx + ny * gy + nz * gz) * T(1.0 / 3.0)
        tau = T(0.5) + T(3) * (nu + T(KAPPA) * friction * y)
        stress = T(3) * options[2] * tau * rho
        square = T(1.5) * (ux * ux + uy * uy + uz * uz)
        if options[0] > T(0.5):
            for j in range(first[i], first[i + 1]):
                k, q = links[j], opposite[q_of[j]]
                cx, cy, cz, w = lattice[0, q], lattice[1, q], lattice[2, q], lattice[3, q]
                m = cx * ux + cy * uy + cz * uz
                d = (cx * nx + cy * ny + cz * nz) * (cx * gx + cy * gy + cz * gz)
                f = w * (drho + rho * (T(3) * m + T(4.5) * m * m - square) - stress * (d - trace))
                returned[k] = f
                populations[wall[k]] = encode(f)
        else:
            for q in range(loads.shape[0]):
                cx, cy, cz, w = lattice[0, q], lattice[1, q], lattice[2, q], lattice[3, q]
                m = cx * ux + cy * uy + cz * uz
                d = (cx * nx + cy * ny + cz * nz) * (cx * gx + cy * gy + cz * gz)
                f = w * (drho + rho * (T(3) * m + T(4.5) * m * m - square) - stress * (d - trace))
                populations[loads[q, i]] = encode(f)
            force[0, i] = ox - rho * ux
            force[1, i] = oy - rho * uy
            force[2, i] = oz - rho * uz
            force[3, i] = drho - own

    return rebuild


def corners(points: np.ndarray, problem: Any, start: np.ndarray, usable: np.ndarray, second: np.ndarray,
            own: np.ndarray, centre: np.ndarray, normal: np.ndarray):
    """Return indices and weights [8, cell] of cells around points, and their mean height above the cells."""
    nx, ny, nz = problem.shape
    base = np.floor(points - 0.5).astype(int)
    part = points - 0.5 - base
    index = np.zeros((8, len(points)), np.int64)
    weight = np.zeros((8, len(points)))
    fallback = np.zeros((8, len(points)))
    rise = np.zeros((8, len(points)))
    for k in range(8):
        o = np.array([k & 1, k >> 1 & 1, k >> 2 & 1])
        p = base + o
        w = np.prod(np.where(o, part, 1 - part), axis=1) + 1e-3
        block = p - start
        block[:, 0] = np.clip(block[:, 0], 0, nx - 1) if not problem.periodic[0] else block[:, 0] % nx
        block[:, 1] = np.clip(block[:, 1], 0, ny - 1) if not problem.periodic[1] else block[:, 1] % ny
        block[:, 2] = np.clip(block[:, 2], 0, nz - 1) if not problem.periodic[2] else block[:, 2] % nz
        x, y, z = block.T
        index[k] = (z * ny + y) * nx + x
        weight[k] = w * usable[z, y, x]
        fallback[k] = w * second[z, y, x] * (index[k] != own)
        rise[k] = ((p + 0.5 - centre) * normal).sum(axis=1)
    weight = np.where(weight.sum(axis=0) > 0.02, weight, fallback)
    total = weight.sum(axis=0)
    weight = weight / np.where(total > 0, total, 1)
    return index, weight, (weight * rise).sum(axis=0), total > 0


@functools.cache
def make_rest(precision: str) -> Any:
    """The slip of cells that were not rebuilt in this step."""
    from lbm._coupled.wall_model.formulas import make_slip
    slip = make_slip(precision)

    @inlined
    def rest(i, force, populations, loads, wall, sent, returned, links, first, q_of, cells, lattice, nu):
        if force[4, i] < type(nu)(0.5):
            slip(i, populations, loads, wall, sent, returned, links, first, q_of, cells, lattice, nu)

    return rest


def slopes(problem: Any, near_i: np.ndarray, far_i: np.ndarray, near_w: np.ndarray, far_w: np.ndarray) -> np.ndarray:
    """Return weights [3 * 16, cell] of the gradient of a field from cells of positive weight."""
    nx, ny, _ = problem.shape
    index = np.vstack([near_i, far_i])
    used = np.vstack([near_w, far_w]) > 0
    p = np.stack([index % nx, index // nx % ny, index // (nx * ny)]).astype(float)  # [3, 16, cell]
    w = used.astype(float)
    mean = (p * w).sum(axis=1) / np.maximum(w.sum(axis=0), 1)
    d = (p - mean[:, None]) * w
    matrix = np.einsum("akc,bkc->cab", d, d)
    inverse = np.linalg.pinv(matrix, rcond=1e-2, hermitian=True)
    out = np.einsum("cab,bkc->akc", inverse, d)
    return out.reshape(48, -1)
