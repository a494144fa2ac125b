"""Hard-to-round cases of elementary functions, with certificates.

`search` finds every argument whose value lies close to a rounding breakpoint; `verify` checks what
it certifies. Importing the package loads neither Numba nor a driver.
"""

from hetero.lazy import lazy_attributes
from hetero.version import VERSION as __version__
from tmd.errors import CertificateError, CheckpointError

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "tmd.results": ("Case", "Result"),
        "tmd.searches": ("search",),
        "tmd.certificate": ("verify",),
    },
)
__all__ += ["CertificateError", "CheckpointError", "__version__"]
