"""Loops over the triangles near the points of a grid."""

import math

from numba import prange

from hetero.jit import parallel, scalar_internal


@scalar_internal
def _square_to_edge(px, py, pz, ax, ay, az, bx, by, bz):
    """Return the squared distance of a point from an edge."""
    ex, ey, ez = bx - ax, by - ay, bz - az
    dx, dy, dz = px - ax, py - ay, pz - az
    square = ex * ex + ey * ey + ez * ez
    share = (dx * ex + dy * ey + dz * ez) / square if square > 0.0 else 0.0
    share = min(max(share, 0.0), 1.0)
    dx, dy, dz = dx - share * ex, dy - share * ey, dz - share * ez
    return dx * dx + dy * dy + dz * dz


@scalar_internal
def square_to_triangle(px, py, pz, corners):
    """Return the squared distance of a point from a triangle [corner, (x, y, z)].

    It is that from the plane if the point lies above the triangle, and else from the nearest edge.
    """
    ax, ay, az = corners[0, 0], corners[0, 1], corners[0, 2]
    bx, by, bz = corners[1, 0], corners[1, 1], corners[1, 2]
    cx, cy, cz = corners[2, 0], corners[2, 1], corners[2, 2]
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    area = nx * nx + ny * ny + nz * nz
    dx, dy, dz = px - ax, py - ay, pz - az
    if area > 0.0:
        # Barycentric coordinates of the point in the plane, times the area.
        s = (dy * vz - dz * vy) * nx + (dz * vx - dx * vz) * ny + (dx * vy - dy * vx) * nz
        t = (uy * dz - uz * dy) * nx + (uz * dx - ux * dz) * ny + (ux * dy - uy * dx) * nz
        if s >= 0.0 and t >= 0.0 and s + t <= area:
            above = dx * nx + dy * ny + dz * nz
            return above * above / area
    return min(
        _square_to_edge(px, py, pz, ax, ay, az, bx, by, bz),
        _square_to_edge(px, py, pz, bx, by, bz, cx, cy, cz),
        _square_to_edge(px, py, pz, cx, cy, cz, ax, ay, az),
    )


@parallel
def lower_distances(triangles, corner, points_per_cell, band, squares):
    """Lower squared distances [z, y, x] of grid points to those from triangles within `band`.

    The grid begins at `corner`, with this number of points in a cell along each axis.
    """
    nz, ny, nx = squares.shape
    for k in prange(nz):
        z = corner[2] + k / points_per_cell
        for i in range(len(triangles)):
            t = triangles[i]
            if min(t[0, 2], t[1, 2], t[2, 2]) > z + band:
                continue
            if max(t[0, 2], t[1, 2], t[2, 2]) < z - band:
                continue
            left = min(t[0, 0], t[1, 0], t[2, 0]) - band - corner[0]
            right = max(t[0, 0], t[1, 0], t[2, 0]) + band - corner[0]
            front = min(t[0, 1], t[1, 1], t[2, 1]) - band - corner[1]
            back = max(t[0, 1], t[1, 1], t[2, 1]) + band - corner[1]
            x0, x1 = math.ceil(left * points_per_cell), math.floor(right * points_per_cell)
            y0, y1 = math.ceil(front * points_per_cell), math.floor(back * points_per_cell)
            for j in range(max(y0, 0), min(y1, ny - 1) + 1):
                y = corner[1] + j / points_per_cell
                for h in range(max(x0, 0), min(x1, nx - 1) + 1):
                    x = corner[0] + h / points_per_cell
                    square = square_to_triangle(x, y, z, t)
                    squares[k, j, h] = min(squares[k, j, h], square)
