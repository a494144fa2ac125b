"""Says which sources `make docs` built the site from, so that its tests need not build it again.

python tools/site/stamp.py        writes out/site.stamp, beside out/site
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SITE, STAMP = ROOT / "out" / "site", ROOT / "out" / "site.stamp"
LEFT_OUT = {"out", "build", "dist", "__pycache__"}
"""Folders without sources; those whose names begin with a dot are left out, too."""


def digest_sources() -> str:
    """Return a hash of all files of the repository: a page may show any of them."""
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if f[0] != "." and f not in LEFT_OUT)
        for path in (Path(folder) / name for name in sorted(names) if name[0] != "."):
            digest.update(f"{path.relative_to(ROOT)}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def is_site_current() -> bool:
    """Return whether out/site was built from the present sources."""
    return SITE.is_dir() and STAMP.exists() and STAMP.read_text() == digest_sources()


if __name__ == "__main__":
    STAMP.write_text(digest_sources())
