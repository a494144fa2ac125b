"""Good calls of `sbth`."""

import functools

import numpy as np

import sbth
from faults.judge import Call, close

BAND = np.array([[4.0, 4.0, 4.0, 4.0], [1.0, 1.0, 1.0, 0.0]])
FULL = np.diag([4.0] * 4) + np.diag([1.0] * 3, 1) + np.diag([1.0] * 3, -1)
SPECTRUM = {"select": "i", "select_range": (0, 1), "tol": None, "method": "auto", "device": "cpu"}
FLAGS = (
    *("lower", "overwrite_a", "overwrite_a_band", "check_finite", "keep_reflectors"),
    "eigvals_only",
)

CALLS = [
    Call("sbth.tridiagonalize", sbth.tridiagonalize,
         lambda: {"ab": BAND.copy(), "lower": True, "method": None, "in_flight": None,
                  "keep_reflectors": False, "device": "cpu"}, untold=FLAGS),
    Call("sbth.eigvals_banded", sbth.eigvals_banded,
         lambda: {"a_band": BAND.copy(), "lower": True, "overwrite_a_band": False,
                  "check_finite": True, **SPECTRUM}, untold=FLAGS),
    Call("sbth.eigvalsh", sbth.eigvalsh, lambda: {"a": FULL.copy(), **SPECTRUM}),
    Call("sbth.eigvalsh_tridiagonal", sbth.eigvalsh_tridiagonal,
         lambda: {"d": np.ones(4), "e": np.ones(3), "check_finite": True, **SPECTRUM},
         untold=FLAGS),
    Call("sbth.eigh_tridiagonal", sbth.eigh_tridiagonal,
         lambda: {"d": np.ones(4), "e": np.ones(3), "eigvals_only": False, "check_finite": True,
                  **SPECTRUM}, untold=FLAGS),
    Call("sbth.eig_banded", sbth.eig_banded,
         lambda: {"a_band": BAND.copy(), "lower": True, "eigvals_only": False,
                  "overwrite_a_band": False, "max_ev": 0, "check_finite": True, **SPECTRUM},
         untold=(*FLAGS, "max_ev")),
    Call("sbth.eigh", sbth.eigh,
         lambda: {"a": FULL.copy(), "lower": True, "eigvals_only": False, "overwrite_a": False,
                  "check_finite": True, "subset_by_index": (0, 1), "device": "cpu"},
         untold=FLAGS),
    Call("sbth.eigh, of two matrices", sbth.eigh,
         lambda: {"a": FULL.copy(), "b": FULL.copy(), "lower": True, "method": "lapack",
                  "device": "cpu"}, untold=FLAGS),
    Call("sbth.eig_banded, of two matrices", sbth.eig_banded,
         lambda: {"a_band": BAND.copy(), "lower": True, "b_band": BAND.copy(), "method": "auto",
                  "device": "cpu"}, untold=FLAGS),
    Call("sbth.solve_batch", functools.partial(sbth.solve_batch, sbth.eig_banded),
         lambda: {"a_band": BAND[None], "lower": True, "progress": False,
                  "device": ("cpu", "cpu")}, untold=FLAGS),
    Call("sbth.solver_for", sbth.solver_for,
         lambda: {"order": 9, "bandwidth": 2, "eigvals_only": True, "dtype": "float64",
                  "method": "auto", "device": "cpu"},
         untold=FLAGS, nonsense={"dtype": ("type",)}),
    Call("sbth.eigsh", sbth.eigsh,
         lambda: {"a": FULL.copy(), "k": 2, "which": "LA", "sigma": None, "OPinv": None,
                  "v0": np.ones(4), "ncv": 4, "maxiter": 9, "tol": 0.0,
                  "return_eigenvectors": True, "search_copies": True, "method": "lanczos",
                  "rng": 0, "device": "cpu"},
         untold=(*FLAGS, "return_eigenvectors", "search_copies")),
    Call("sbth.forecast_eigsh", sbth.forecast_eigsh,
         lambda: {"a": FULL.copy(), "k": 2, "which": "LA", "sigma": None, "ncv": 4,
                  "return_eigenvectors": True, "method": "auto", "device": "cpu"},
         untold=(*FLAGS, "return_eigenvectors")),
    Call("sbth.full_to_band", sbth.full_to_band,
         lambda: {"a": FULL.copy(), "bandwidth": 2, "lower": True, "device": "cpu"},
         untold=FLAGS),
    Call("sbth.Spectrum.plot", lambda ax: close(sbth.spectrum(FULL.copy(), device="cpu").plot(ax)),
         lambda: {"ax": None}, takes_long=True),
    Call("sbth.spectrum", sbth.spectrum, lambda: {"a": FULL.copy(), **SPECTRUM}),
    Call("sbth.band_from_dense", sbth.band_from_dense,
         lambda: {"a": FULL.copy(), "bandwidth": 1, "lower": True}, untold=FLAGS),
    Call("sbth.band_from_sparse", sbth.band_from_sparse, lambda: {"a": _sparse(), "lower": True},
         untold=FLAGS),
    Call("sbth.dense_from_band", sbth.dense_from_band,
         lambda: {"ab": BAND.copy(), "lower": True}, untold=FLAGS),
    Call("sbth.Reflectors.apply", lambda x: _reflectors().apply(x), lambda: {"x": np.eye(4)}),
]  # fmt: skip


def _sparse():
    from scipy.sparse import csr_array

    return csr_array(FULL)


def _reflectors():
    return sbth.tridiagonalize(BAND, lower=True, keep_reflectors=True, device="cpu").reflectors


NOT_CALLED = {
    "EigshForecast",
    "NoConvergenceError",
    "Reflectors",
    "Spectrum",
    "Tridiagonal",
    "TridiagonalReduction",
}
"""Public names that take no arguments of users: results."""
