"""The public names of sbth, for its `__init__.py` and for type checkers."""

from .band_storage import band_from_dense as band_from_dense
from .band_storage import band_from_sparse as band_from_sparse
from .band_storage import dense_from_band as dense_from_band
from .batches import solve_batch as solve_batch
from .dense import eigh as eigh
from .dense import eigvalsh as eigvalsh
from .dense import full_to_band as full_to_band
from .eigenvalues import eigvals_banded as eigvals_banded
from .eigenvalues import eigvalsh_tridiagonal as eigvalsh_tridiagonal
from .eigenvalues import spectrum as spectrum
from .eigenvectors import eig_banded as eig_banded
from .eigenvectors import eigh_tridiagonal as eigh_tridiagonal
from .methods import solver_for as solver_for
from .results import EigshForecast as EigshForecast
from .results import NoConvergenceError as NoConvergenceError
from .results import Reflectors as Reflectors
from .results import Spectrum as Spectrum
from .results import Tridiagonal as Tridiagonal
from .results import TridiagonalReduction as TridiagonalReduction
from .sparse import eigsh as eigsh
from .sparse import forecast_eigsh as forecast_eigsh
from .tridiagonalization import tridiagonalize as tridiagonalize

__version__: str
