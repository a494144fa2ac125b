"""Triangles from files, read by trimesh."""

from __future__ import annotations

import importlib.util
import struct
from pathlib import Path
from typing import Any

import numpy as np

_STL_HEADER, _STL_TRIANGLE = 84, 50
"""Bytes of the head of a binary STL file, which ends with the number of triangles, and of each."""

_STL_END = 1024
"""Bytes at the end of a text STL file among which its last line is looked for."""


def read_triangles(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices [vertex, xyz] and the faces [triangle, corner] of a file.

    Raises
    ------
    OSError : the file cannot be read
    ImportError : trimesh, or a package that it needs for this format, is not installed
    ValueError : the file is damaged, or it has no triangles
    """
    if importlib.util.find_spec("trimesh") is None:
        raise ImportError("meshes are read by trimesh: pip install 'heterokit[mesh]'")
    import trimesh

    path.open("rb").close()  # trimesh names no reason if a file is missing or unreadable
    if path.suffix.lower() == ".stl":
        _require_complete_stl(path)
    try:
        mesh: Any = trimesh.load_mesh(path, process=False)
        vertices, faces = np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64)
    except ImportError as error:
        raise ImportError(
            f"{path}: trimesh needs a package for {path.suffix} files ({error}): install it, or "
            "export the body as STL"
        ) from None
    except NotImplementedError:
        raise ValueError(
            f"{path}: trimesh does not read {path.suffix or 'files without a suffix'}: export the "
            "body as STL, PLY, OBJ or OFF"
        ) from None
    except Exception as error:  # the readers of damaged files raise errors of any type
        reason = str(error) or type(error).__name__
        raise ValueError(f"{path} cannot be read as a mesh: {reason}") from None
    if not len(faces):
        raise ValueError(f"{path} has no triangles: export the body again, as a mesh of triangles")
    return vertices, faces


def _require_complete_stl(path: Path) -> None:
    """Raise ValueError for an STL file that ends too early, which trimesh reads as an empty one."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_STL_HEADER)
        file.seek(max(0, size - _STL_END))
        tail = file.read()
    if not size:
        raise ValueError(f"{path} is empty: export the body again")
    count = struct.unpack("<I", head[-4:])[0] if len(head) == _STL_HEADER else 0
    if size == _STL_HEADER + _STL_TRIANGLE * count:
        return  # binary; some of these begin with "solid" too
    if head.lstrip().lower().startswith(b"solid"):
        if b"endsolid" not in tail.lower():
            raise ValueError(f"{path} ends before its line endsolid: it is not complete, copy it "
                             "or export it again")  # fmt: skip
        return
    if len(head) < _STL_HEADER:
        raise ValueError(f"{path} has {size} bytes and no head of an STL file: export it again")
    present = max(0, (size - _STL_HEADER) // _STL_TRIANGLE)
    if present < count:
        raise ValueError(
            f"{path} should have {count} triangles, but ends after {present}: it is not a complete "
            "STL file, copy it or export it again"
        )
    raise ValueError(
        f"{path} should have {count} triangles in {_STL_HEADER + _STL_TRIANGLE * count} bytes, but "
        f"has {size} bytes: it is not an STL file, export it again"
    )
