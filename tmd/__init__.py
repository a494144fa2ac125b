"""Hard-to-round cases of elementary functions, with certificates.

`search` finds every argument whose value lies close to a rounding breakpoint; `verify` checks what
it certifies. Importing the package loads neither Numba nor a driver.
"""

import importlib

from tmd.errors import CertificateError, CheckpointError

_LATER = {
    "Case": "tmd.results",
    "Result": "tmd.results",
    "search": "tmd.searches",
    "verify": "tmd.certificate",
}

__all__ = ["CertificateError", "CheckpointError", *_LATER]


def __getattr__(name: str):
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module 'tmd' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
