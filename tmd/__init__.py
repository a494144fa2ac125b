"""Hard-to-round cases of elementary functions, with certificates.

`search` finds every argument whose value lies close to a rounding breakpoint; `verify` checks what
it certifies. Importing the package loads neither Numba nor a driver.
"""

from typing import TYPE_CHECKING

from hetero.compile_cache.sources import register
from hetero.public_names.lazy import lazy_attributes
from hetero.public_names.moved import redirect_modules
from hetero.version import VERSION as __version__
from tmd.errors import CertificateError, CheckpointError

register(__name__, __path__[0])

if TYPE_CHECKING:
    from tmd.certificates import read_certificates as read_certificates
    from tmd.certificates import verify as verify
    from tmd.certificates import verify_cases as verify_cases
    from tmd.formats import Format as Format
    from tmd.library_check import LibraryScore as LibraryScore
    from tmd.library_check import check_libraries as check_libraries
    from tmd.results import Case as Case
    from tmd.results import Result as Result
    from tmd.searches import search as search

__getattr__, __dir__, __all__ = lazy_attributes(
    __name__,
    {
        "tmd.results": ("Case", "Result"),
        "tmd.searches": ("search",),
        "tmd.certificates": ("read_certificates", "verify", "verify_cases"),
        "tmd.formats": ("Format",),
        "tmd.library_check": ("LibraryScore", "check_libraries"),
    },
)
__all__ += ["CertificateError", "CheckpointError", "__version__"]

redirect_modules(
    {
        "tmd.blocks": "tmd._search.blocks",
        "tmd.certificate": "tmd.certificates",
        "tmd.check": "tmd.library_check",
        "tmd.checkpoint": "tmd._search.checkpoint",
        "tmd.decide": "tmd._search.decisions",
        "tmd.engine": "tmd._search.pipeline",
        "tmd.plan": "tmd._search.planning",
        "tmd.taylor": "tmd._search.taylor_models",
    }
)
