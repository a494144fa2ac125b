"""Bodies given by triangle meshes: their files, their place in a domain, their cells."""

from __future__ import annotations

import copy
import functools
import logging
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hetero.validation import check_in_range, check_integer, check_path, check_positive, describe
from lbm.boundaries import check_vector
from lbm.geometry import check_domain
from lbm.geometry.shapes import Complement
from lbm.geometry.triangles.arrays import LARGEST_COORDINATE, check_arrays, rotate
from lbm.geometry.triangles.files import read_triangles
from lbm.geometry.triangles.resolution import require_inside, warn_of_thin_parts
from lbm.geometry.triangles.topology import close_surface
from lbm.lattices.extent import Extent

LOGGER = logging.getLogger("lbm.meshes")

LARGEST_SIZE = 1 << 15
"""Largest side of a placed mesh in cells: no domain has as many."""

Vector = Sequence[float]


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """A body whose surface is a mesh of triangles.

    It is a function of the centres of cells, so it is given to `lbm.Solid` as it is:
    `lbm.Solid(lbm.read_mesh("car.stl").place(length=60, centre=(50, 32, 32)))`. Each rank of a
    simulation then computes the cells of its own part only, with a byte for each.

    A cell is solid if its centre is inside: if the surface winds around it. Parts of a body may
    overlap or touch, and all triangles may face inwards. If some face inwards and others outwards,
    a cell is inside if a line to it crosses the surface an odd number of times; a region where two
    parts overlap is then outside, and a warning says so. Centres on the surface belong to the body
    on its lower sides, as in [low, high). The walls are staircases, or with
    `lbm.Solid(mesh, wall="interpolated")` stand at the triangles (see docs/guides/meshes.md).

    Parameters
    ----------
    vertices : real array of shape (vertices, 3)
        Coordinates; in cells, from the corner of the domain, once the mesh is placed.
    faces : integer array of shape (triangles, 3)
        Indices of the corners. Equal vertices are merged; degenerate and repeated triangles are
        removed.
    weld : float
        Vertices that are at most as far apart are merged, too. It closes meshes whose triangles
        repeat their corners with rounding errors.
    repair : bool
        Take a surface that is not closed as it is: with holes, open sheets, doubled walls,
        triangles that face the wrong way. Cells are inside if their winding number is above one
        half (Jacobson et al. 2013), triangles that face against their neighbours are turned over,
        and `repairs` says so. A closed surface stays as it is.

    Attributes
    ----------
    repairs : tuple of str
        What was done to the surface.
    minimum_thickness : int
        Cells that the body has at least, see `place`.
    caps : integer array of shape (triangles, 3)
        Further triangles, which close a surface that was open.
    sheets : int
        Number of the last faces that bound nothing.

    Raises
    ------
    ValueError
        If the surface is not closed, without `repair`: some edges belong to an odd number of
        triangles.
    """

    vertices: np.ndarray
    faces: np.ndarray
    weld: float = 0.0
    repair: bool = False
    is_oriented: bool = field(init=False)
    """True if all triangles face outwards, or all inwards."""
    repairs: tuple[str, ...] = field(init=False)
    minimum_thickness: int = field(init=False, default=0)
    caps: np.ndarray = field(init=False)
    sheets: int = field(init=False)

    def __post_init__(self) -> None:
        vertices, faces = check_arrays(self.vertices, self.faces)
        weld = check_in_range("weld", self.weld, 0.0, LARGEST_COORDINATE)
        if not isinstance(self.repair, bool | np.bool_):
            raise TypeError(f"repair must be True or False, got {describe(self.repair)}")
        if self.repair:
            from lbm.geometry.triangles.repair import repair_surface

            surface = repair_surface(vertices, faces, weld)
        else:
            surface = close_surface(vertices, faces, weld)
        if not surface.is_oriented:
            warnings.warn(
                "faces are not oriented consistently: some of the triangles face inwards and "
                "others outwards, so that regions where parts of the body overlap are outside. "
                "Use repair=True if it has such parts, or unify the normals of the mesh",
                stacklevel=3,
            )
        for name, value in surface._asdict().items():
            object.__setattr__(self, name, value)
        for note in surface.repairs:
            LOGGER.info("%s", note)

    def __repr__(self) -> str:
        low, high = (", ".join(f"{c:g}" for c in corner) for corner in self.bounds)
        return f"<TriangleMesh of {len(self.faces)} triangles from ({low}) to ({high})>"

    @functools.cached_property
    def triangles(self) -> np.ndarray:
        """Corners of the triangles, float64 [triangle, corner, (x, y, z)]."""
        return self.vertices[self.faces]

    @functools.cached_property
    def closed_triangles(self) -> np.ndarray:
        """Corners of the triangles that bound the body, and of the caps of a repaired surface."""
        bounding = self.faces[: len(self.faces) - self.sheets]
        return self.vertices[np.concatenate([bounding, self.caps])]

    @property
    def crosses_links(self) -> bool:
        """True if a triangle is between each cell inside and each neighbour outside."""
        return not (len(self.caps) or self.sheets or self.minimum_thickness)

    @property
    def bounds(self) -> np.ndarray:
        """Lowest and highest coordinates, float64 [2, 3]."""
        return np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)])

    def place(
        self,
        *,
        length: float | None = None,
        dx: float | None = None,
        centre: Vector | None = None,
        corner: Vector | None = None,
        rotation: Vector = (0.0, 0.0, 0.0),
        minimum_thickness: int = 0,
    ) -> TriangleMesh:
        """Return the mesh in cells: scaled, rotated and moved into a domain.

        Parameters
        ----------
        length : float
            Length in cells of the longest side of the bounding box as it stands in the file.
        dx : float
            Instead of `length`: edge of a cell in the unit of the mesh. A file in millimetres with
            cells of 5 mm has dx=5.
        centre : three floats, optional
            Position in cells of the middle of the bounding box. The body rotates about it.
        corner : three floats, optional
            Instead of `centre`: position in cells of the lowest corner of the bounding box after
            the rotation. A body with corner y = 0 stands on the face "y-". Without both, the
            origin of the mesh, about which it rotates, is the corner of the domain.
        rotation : three floats
            Angles in degrees about the axes x, y and z, which stay where they are, in this order.
        minimum_thickness : {0, 1}
            With 1, plates, sheets and edges that would vanish between centres are one cell thick:
            the cells that they cross are solid.

        Returns
        -------
        TriangleMesh

        Raises
        ------
        ValueError
            If both or none of `length` and `dx` are given, or both `centre` and `corner`.

        Warns
        -----
        UserWarning
            If parts of the body, or gaps in it, vanish because they are thinner than a cell.
        """
        if (length is None) == (dx is None):
            raise ValueError(
                "place needs either length, in cells, or dx, the edge of a cell in the unit of the "
                f"mesh; got length={length!r} and dx={dx!r}"
            )
        if centre is not None and corner is not None:
            raise ValueError(f"centre={centre!r} and corner={corner!r} exclude each other")
        low, high = self.bounds
        if length is not None:
            scale = check_positive("length", length) / float((high - low).max())
        else:
            scale = 1.0 / check_positive("dx", dx)
        thickness = check_integer("minimum_thickness", minimum_thickness, 0, 1)
        pivot = np.zeros(3) if centre is None else (low + high) / 2.0
        with np.errstate(all="ignore"):  # the result is checked
            vertices = rotate((self.vertices - pivot) * scale, rotation)
        if corner is not None:
            vertices -= vertices.min(axis=0)
            vertices += check_vector("corner", corner)
        elif centre is not None:
            vertices += check_vector("centre", centre)
        if not np.abs(vertices).max() <= LARGEST_COORDINATE:
            raise ValueError(
                f"the placed mesh must lie within {LARGEST_COORDINATE:g} cells of the corner of "
                f"the domain, got coordinates of {np.abs(vertices).max():g}: correct length, dx, "
                "centre or corner"
            )
        size = float(np.ptp(vertices, axis=0).max())
        if size > LARGEST_SIZE:
            raise ValueError(
                f"the mesh must be at most {LARGEST_SIZE} cells long, got {size:g}: correct length "
                "or dx, as the mesh may have another unit than you think"
            )
        placed = move_mesh(self, vertices)
        object.__setattr__(placed, "minimum_thickness", thickness)
        if not thickness:
            warn_of_thin_parts(placed)
        return placed

    def cells(self, shape: Sequence[int]) -> np.ndarray:
        """Return the cells of a domain whose centres are inside, bool of shape (nx, ny, nz).

        `lbm.Solid` takes the mesh itself, too, and then needs no array of the whole domain.

        Raises
        ------
        ValueError
            If the body lies outside of the domain.

        Warns
        -----
        UserWarning
            If a part of the body lies outside of the domain, or if it is hardly longer than a cell.
        """
        domain = check_domain("shape", shape)
        require_inside(self, domain)
        return np.ascontiguousarray(self(*Extent.of_domain(domain).centres))

    def __call__(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return the cells inside for coordinates of shape (nx, 1, 1), (1, ny, 1), (1, 1, nz)."""
        axes, positions = [], []
        for axis, values in enumerate((x, y, z)):
            if np.ndim(values) != 3 or np.shape(values)[axis] != np.size(values):
                raise ValueError(
                    "x, y and z must have the shapes (nx, 1, 1), (1, ny, 1) and (1, 1, nz), as "
                    f"numpy.ix_ makes them, got {np.shape(x)}, {np.shape(y)} and {np.shape(z)}"
                )
            # Around a periodic domain, coordinates are neither sorted nor all different.
            centres, position = np.unique(np.ravel(values), return_inverse=True)
            axes.append(centres.astype(np.float64))
            positions.append(position)
        from lbm.geometry.triangles.bodies import mark_inside, mark_thick

        cells = (mark_thick if self.minimum_thickness else mark_inside)(self, *axes)
        if all((p == np.arange(p.size)).all() for p in positions):
            return cells
        return cells[np.ix_(*positions)]

    def __invert__(self) -> Complement:
        """Return everything outside of the surface, such as the wall of a vessel around a flow."""
        return Complement(self)

    def distances(self, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Return how far along each link the surface is, as `lbm.Shape.distances` does.

        Links stop at the first triangle that they meet. `lbm.Solid` needs this
        for wall="interpolated".
        """
        from lbm.geometry.triangles.link_distances import find_distances

        return find_distances(self.triangles, points, directions)

    def frontal_area(self, direction: Vector = (1.0, 0.0, 0.0)) -> float:
        """Return the area of the silhouette along a direction, in squares of the mesh's unit.

        It is that of the surface itself, not of cells, with an error of about 0.1 %.
        """
        from lbm.geometry.triangles.inside import measure_shadow

        along = np.array(check_vector("direction", direction))
        if not along.any():
            raise ValueError(f"direction must not be zero, got {direction!r}")
        along /= np.linalg.norm(along)
        across = np.roll(np.eye(3)[int(np.abs(along).argmax())], 1)
        second = np.cross(along, across)
        second /= np.linalg.norm(second)
        frame = np.stack([along, np.cross(second, along), second], axis=1)
        return measure_shadow((self.vertices @ frame)[self.faces])


def move_mesh(mesh: TriangleMesh, vertices: np.ndarray) -> TriangleMesh:
    """Return a mesh with the same faces and other vertices, which need no checks."""
    moved = copy.copy(mesh)
    for name in ("triangles", "closed_triangles"):
        moved.__dict__.pop(name, None)
    object.__setattr__(moved, "vertices", vertices)
    return moved


def read_mesh(path: str | os.PathLike, weld: float = 0.0, *, repair: bool = False) -> TriangleMesh:
    """Read a triangle mesh from an STL file (binary or text), PLY, OBJ, OFF or GLB.

    Parameters
    ----------
    path : str or path
        A file that trimesh reads (extra `mesh`).
    weld : float
        Vertices that are at most as far apart, in the unit of the file, are merged; see
        `TriangleMesh`.
    repair : bool
        Take a surface that is not closed as it is; see `TriangleMesh`.

    Returns
    -------
    TriangleMesh
        In the unit of the file. `TriangleMesh.place` brings it into a domain.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is damaged or not complete, has no triangles, or its surface is not closed, without
        `repair`; the message says how many edges are open.
    ImportError
        If trimesh is not installed.
    """
    file = check_path("path", path)
    weld = check_in_range("weld", weld, 0.0, LARGEST_COORDINATE)
    vertices, faces = read_triangles(file)
    try:
        return TriangleMesh(vertices, faces, weld, repair)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
