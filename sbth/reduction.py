"""Band matrix to tridiagonal form, by the pipelined SBTH algorithm."""

from __future__ import annotations

import numpy as np

from hetero import errors, region
from hetero.arrays import Workspace
from hetero.devices import resolve
from hetero.jit import twin
from sbth.storage import checked_band, columns_of

METHODS = {"cpu": ("wavefront", "serial"), "cuda": ("persistent", "wavefront")}
"""The methods of each kind of device, the default first."""

WIDEST = 64
"""Subdiagonals up to which a GPU reduces a band."""

FEW = 1000
"""Order below which a CPU's threads wait for each other longer than they work."""

BREAK_EVEN = 500
"""Order from which one H200 beats two cores, transfers included."""


def tridiagonalize(ab, *, lower: bool = True, method=None, in_flight=None, device=None):
    """Reduce a symmetric band matrix to tridiagonal form by orthogonal transformations.

    Parameters
    ----------
    ab : array_like (bandwidth + 1, n) of float
        LAPACK band storage, as `scipy.linalg.eig_banded` takes it: with `lower`, ab[k, j] is
        element (j + k, j). What lies outside the matrix is not looked at; `ab` is not changed.
        float32 stays float32, all else is computed in float64.
    lower : bool
        Whether `ab` has the lower or the upper triangle.
    method : str, optional
        On a CPU "wavefront" (block pairs of several sweeps at once, over the threads; the default
        from n = 1000 on) or "serial"; on a GPU "persistent" (one kernel in which blocks wait for
        each other) or "wavefront" (one launch a step). All give the same bits on one device.
    in_flight : int, optional
        On a GPU: the most block pairs that are worked on at once (the thesis's pipeline length). By
        default all that the algorithm allows, n / (2 bandwidth).
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    d, e : NumPy arrays (n,), (n - 1,)
        Diagonal and subdiagonal of a matrix with the same eigenvalues.

    Raises
    ------
    TypeError
        `ab` is complex or holds no numbers.
    ValueError
        `ab` has no two dimensions, holds NaN or infinity within the band, or is too wide for the
        GPU (64 subdiagonals).
    RuntimeError
        The GPU's blocks waited in vain for each other (a defect; the matrix is not changed).
    hetero.DeviceUnavailableError

    Notes
    -----
    Lang (1993); thesis, algorithms 1 and 2. 6 n^2 bandwidth operations. Each eigenvalue changes by
    some n eps times the norm at most. Entries near over- or underflow are scaled before.
    """
    ab = checked_band(ab)
    n = ab.shape[1]
    width = min(ab.shape[0] - 1, max(n - 1, 0))
    if width <= 1:
        work, factor = columns_of(ab, lower)
        return _ends(work, factor)
    device = resolve(device, work=n if width <= WIDEST else 0, break_even=BREAK_EVEN)
    options = METHODS[device.kind]
    if method is None:
        few = device.kind == "cpu" and n < FEW
        method = "serial" if few else options[0]
    errors.one_of("method", method, options)
    if device.kind == "cuda" and width > WIDEST:
        raise ValueError(
            f"ab has {width} subdiagonals, the GPU takes at most {WIDEST}: use device='cpu'"
        )
    if in_flight is not None:
        in_flight = errors.whole("in_flight", in_flight, 1)
    work, factor = columns_of(ab, lower)
    with device.active(), region("band to tridiagonal"):
        space = Workspace(device)
        flat = space.input("ab", work, dtype=work.dtype)
        loops = twin("sbth._reduction", device)
        loops.reduce(flat.reshape(work.shape), width, method, in_flight, space.stream)
        work = np.asarray(space.result(flat, work.shape))
    return _ends(work, factor)


def _ends(work: np.ndarray, factor: float) -> tuple[np.ndarray, np.ndarray]:
    """Diagonal and subdiagonal of a working matrix that is reduced."""
    scale = work.dtype.type(factor)
    below = (
        work[:-1, 1] * scale if work.shape[1] > 1 else np.zeros(max(len(work) - 1, 0), work.dtype)
    )
    return work[:, 0] * scale, below
