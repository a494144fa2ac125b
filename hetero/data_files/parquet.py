"""The optional package that reads and writes Parquet files."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType


def import_pyarrow(path: Path) -> tuple[ModuleType, ModuleType]:
    """Return the modules pyarrow and pyarrow.parquet.

    Raises
    ------
    ImportError : pyarrow is not installed; the message names the file and the remedy
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            f"{path}: Parquet files need pyarrow, which is not installed. "
            "Remedy: pip install 'heterokit[io]', or use a CSV or NPY file"
        ) from None
    return pyarrow, pyarrow.parquet
