"""Matrices in files: Matrix Market, and NumPy's NPY and NPZ."""

from __future__ import annotations

import zlib
from gzip import BadGzipFile
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

SUFFIXES = (".mtx", ".mtx.gz", ".npy", ".npz")


def read_matrix(path: Path) -> Any:
    """Read a matrix from a file.

    Parameters
    ----------
    path : Path
        Matrix Market (.mtx, also compressed, .mtx.gz), a NumPy array (.npy), or an archive (.npz)
        of `scipy.sparse.save_npz`, or of a single array.

    Returns
    -------
    array (n, n), or SciPy sparse matrix

    Raises
    ------
    OSError : the file cannot be read
    ValueError : it is no such file, is not compressed as its name says, or holds something else
    """
    name = path.name.lower()
    if not name.endswith(SUFFIXES):
        raise ValueError(f"{path}: the name must end with {', '.join(SUFFIXES)}")
    path.open("rb").close()  # a missing file is reported by Python, whatever reads it
    try:
        if name.endswith((".mtx", ".mtx.gz")):
            from scipy.io import mmread

            return mmread(path)
        return _read_archive(path) if name.endswith(".npz") else np.load(path, allow_pickle=False)
    except (ValueError, EOFError, BadZipFile, BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path}: the matrix cannot be read: {error}") from None


def _read_archive(path: Path) -> Any:
    """Return the sparse matrix or the only array in an archive."""
    with np.load(path, allow_pickle=False) as archive:
        if "format" in archive.files:
            from scipy.sparse import load_npz

            return load_npz(path)
        if len(archive.files) != 1:
            names = ", ".join(archive.files) or "nothing"
            raise ValueError(f"the archive must hold one array, or a sparse matrix; it has {names}")
        return archive[archive.files[0]]
