"""Band matrix to tridiagonal form, by the pipelined SBTH algorithm."""

from __future__ import annotations

import numpy as np

from hetero import errors, region
from hetero.arrays import Workspace
from hetero.devices import resolve
from hetero.jit import twin
from sbth._order_math import sweeps
from sbth.reflections import Reflections, Stage
from sbth.storage import checked_band, diagonals, scaling

METHODS = {"cpu": ("wavefront", "serial"), "cuda": ("persistent", "wavefront")}
"""The methods of each kind of device, the default first."""

WIDE = {"cpu": 384, "cuda": 65}
"""Subdiagonals from which a band is reduced in two steps."""

NARROW = 32
"""Subdiagonals that the first of two steps leaves."""

FEW = 1000
"""Order below which a CPU's threads wait for each other longer than they work."""

BREAK_EVEN = 500
"""Order from which one H200 beats two cores, transfers included."""


def tridiagonalize(
    ab, *, lower: bool = True, method=None, in_flight=None, keep_reflectors=False, device=None
):
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
    keep_reflectors : bool
        Whether to give the transformation, too: n^2 numbers, twice as many for a wide band.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    d, e : NumPy arrays (n,), (n - 1,)
        Diagonal and subdiagonal of T, a matrix with the same eigenvalues.
    q : sbth.Reflections, with `keep_reflectors`
        A = Q T Q^T.

    Raises
    ------
    TypeError
        `ab` is complex or holds no numbers.
    ValueError
        `ab` has no two dimensions, or holds NaN or infinity within the band.
    RuntimeError
        The GPU's blocks waited in vain for each other (a defect; the matrix is not changed).
    hetero.DeviceUnavailableError

    Notes
    -----
    Lang (1993); thesis, algorithms 1 and 2. 6 n^2 bandwidth operations. Wide bands (`WIDE`) are
    first reduced to 32 subdiagonals by blocks of reflections (Bischof, Lang and Sun 2000), as many
    operations again, nearly all in products of matrices. Each eigenvalue changes by some n eps
    times the norm at most. Entries near over- or underflow are scaled before.
    """
    ab = checked_band(ab)
    n = ab.shape[1]
    width = min(ab.shape[0] - 1, max(n - 1, 0))
    device = resolve(device, work=n if width > 1 else 0, break_even=BREAK_EVEN)
    options = METHODS[device.kind]
    if method is None:
        few = device.kind == "cpu" and n < FEW
        method = "serial" if few else options[0]
    errors.one_of("method", method, options)
    if in_flight is not None:
        in_flight = errors.whole("in_flight", in_flight, 1)
    factor = scaling(ab, lower)
    if width > 1:
        with device.active(), region("band to tridiagonal"):
            options = method, in_flight, keep_reflectors
            found, stages = _reduced(ab, lower, factor, width, options, device)
            found = found / found.dtype.type(factor)
            main, below = found[:, 0], found[:-1, 1]
    else:
        parts, stages = diagonals(ab, lower), ()
        main, below = parts[0], parts[1] if width else np.zeros(max(n - 1, 0), ab.dtype)
    main, below = main.copy(), below.copy()
    return (main, below, Reflections(n, stages)) if keep_reflectors else (main, below)


def _reduced(ab, lower, factor, width, options, device):
    """The working matrix in tridiagonal form, (n, 2), and the stages of the reduction as kept."""
    method, in_flight, keep = options
    n, dtype, space, kept = ab.shape[1], ab.dtype, Workspace(device), []

    def room(before, after):
        """Memory for a stage's reflections, of no size if they are not wanted."""
        zeros = np.zeros((sweeps(n, after) * after, n) if keep else (0, 0), dtype)
        vectors = space.input("reflections", zeros, dtype).reshape(zeros.shape)
        kept.append((before, after, vectors))
        return vectors

    def matrix(bandwidth):
        return space.output((n, 2 * bandwidth), dtype).reshape((n, 2 * bandwidth))

    columns, work = twin("sbth._columns", device), matrix(width)
    flat = space.input("ab", ab, dtype)
    columns.unpack(flat, ab.shape[0] - 1, lower, factor, width, work, space.stream)
    if width >= WIDE[device.kind]:
        loops, vectors = twin("sbth._narrow", device), room(width, NARROW)
        loops.narrow(work, width, NARROW, in_flight, vectors, space.stream)
        wide, work, width = work, matrix(NARROW), NARROW
        columns.cut(wide, NARROW, work, space.stream)
    loops, vectors = twin("sbth._reduction", device), room(width, 1)
    loops.reduce(work, width, method, in_flight, vectors, space.stream)
    found = matrix(1)
    columns.cut(work, 1, found, space.stream)

    def on_host(array):
        return np.asarray(space.result(array.reshape(array.size), array.shape))

    stages = (Stage(before, after, on_host(v)) for before, after, v in kept if keep)
    return on_host(found), tuple(stages)
