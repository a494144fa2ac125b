"""Good calls of `sbth`."""

import functools

import numpy as np

import sbth
from faults.judge import Later, good

BAND = np.array([[4.0, 4.0, 4.0, 4.0], [1.0, 1.0, 1.0, 0.0]])
FULL = np.diag([4.0] * 4) + np.diag([1.0] * 3, 1) + np.diag([1.0] * 3, -1)
SPECTRUM = {"select": "i", "select_range": (0, 1), "tol": None, "method": "auto", "device": "cpu"}
FLAGS = (
    *("lower", "overwrite_a", "overwrite_a_band", "check_finite", "keep_reflectors"),
    "eigvals_only",
)


def _sparse():
    from scipy.sparse import csr_array

    return csr_array(FULL)


def _reflectors():
    return sbth.tridiagonalize(BAND, lower=True, keep_reflectors=True, device="cpu").reflectors


CALLS = [
    good("sbth.tridiagonalize", ab=BAND.copy(), lower=True, method=None, in_flight=None,
         keep_reflectors=False, device="cpu", untold=FLAGS),
    good("sbth.eigvals_banded", a_band=BAND.copy(), lower=True, overwrite_a_band=False,
         check_finite=True, **SPECTRUM, untold=FLAGS),
    good("sbth.eigvalsh", a=FULL.copy(), **SPECTRUM),
    good("sbth.eigvalsh_tridiagonal", d=np.ones(4), e=np.ones(3), check_finite=True, **SPECTRUM,
         untold=FLAGS),
    good("sbth.eigh_tridiagonal", d=np.ones(4), e=np.ones(3), eigvals_only=False, check_finite=True,
         **SPECTRUM, untold=FLAGS),
    good("sbth.eig_banded", a_band=BAND.copy(), lower=True, eigvals_only=False,
         overwrite_a_band=False, max_ev=0, check_finite=True, **SPECTRUM,
         untold=(*FLAGS, "max_ev")),
    good("sbth.eigh", a=FULL.copy(), lower=True, eigvals_only=False, overwrite_a=False,
         check_finite=True, subset_by_index=(0, 1), device="cpu", untold=FLAGS),
    good("sbth.eigh, of two matrices", a=FULL.copy(), b=FULL.copy(), lower=True, method="lapack",
         device="cpu", untold=FLAGS),
    good("sbth.eig_banded, of two matrices", a_band=BAND.copy(), lower=True, b_band=BAND.copy(),
         method="auto", device="cpu", untold=FLAGS),
    good("sbth.solve_batch", functools.partial(sbth.solve_batch, sbth.eig_banded),
         a_band=BAND[None], lower=True, progress=False, device=("cpu", "cpu"), untold=FLAGS),
    good("sbth.solver_for", order=9, bandwidth=2, eigvals_only=True, dtype="float64", method="auto",
         device="cpu", untold=FLAGS, nonsense={"dtype": ("type",)}),
    good("sbth.eigsh", a=FULL.copy(), k=2, which="LA", sigma=None, OPinv=None, v0=np.ones(4), ncv=4,
         maxiter=9, tol=0.0, return_eigenvectors=True, search_copies=True, method="lanczos", rng=0,
         device="cpu", untold=(*FLAGS, "return_eigenvectors", "search_copies")),
    good("sbth.forecast_eigsh", a=FULL.copy(), k=2, which="LA", sigma=None, ncv=4,
         return_eigenvectors=True, method="auto", device="cpu",
         untold=(*FLAGS, "return_eigenvectors")),
    good("sbth.full_to_band", a=FULL.copy(), bandwidth=2, lower=True, device="cpu", untold=FLAGS),
    good("sbth.Spectrum.plot", owner=lambda: sbth.spectrum(FULL.copy(), device="cpu"), ax=None,
         takes_long=True),
    good("sbth.spectrum", a=FULL.copy(), **SPECTRUM),
    good("sbth.band_from_dense", a=FULL.copy(), bandwidth=1, lower=True, untold=FLAGS),
    good("sbth.band_from_sparse", a=Later(_sparse), lower=True, untold=FLAGS),
    good("sbth.dense_from_band", ab=BAND.copy(), lower=True, untold=FLAGS),
    good("sbth.Reflectors.apply", x=np.eye(4), owner=_reflectors),
]  # fmt: skip


NOT_CALLED = {
    "EigshForecast", "NoConvergenceError", "Reflectors", "Spectrum", "Tridiagonal",
    "TridiagonalReduction",
}  # fmt: skip
"""Public names that take no arguments of users: results."""
