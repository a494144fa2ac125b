"""Shear frames against oracles in displacements of floors: SciPy's integration, Lyapunov."""

import math

import numpy as np
import pytest
from scipy import integrate, linalg, signal

import rode

MASSES, STIFFNESSES = np.array([30.0, 25.0, 20.0]), np.array([9e3, 7e3, 4e3])
SHAKE = rode.Filtered.kanai_tajimi(c=0.05)


def matrices(m, k):
    """Return mass and stiffness matrices over the displacements of floors."""
    K = np.zeros((len(m), len(m)))
    for i, stiffness in enumerate(k):  # the energy of storey i is k (u_i - u_(i-1))^2 / 2
        row = np.zeros(len(m))
        row[i] = 1.0
        if i:
            row[i - 1] = -1.0
        K += stiffness * np.outer(row, row)
    return np.diag(m), K


def rayleigh(M, K, ratio):
    """Return the damping matrix with a ratio in the first two modes."""
    w = np.sqrt(linalg.eigh(K, M, eigvals_only=True))[:2]
    a, b = np.linalg.solve([[1 / w[0], w[0]], [1 / w[1], w[1]]], [2 * ratio, 2 * ratio])
    return a * M + b * K


def observed(M, C, u, v, k, force):
    """Return drifts, shears and absolute accelerations of floors."""
    drifts = np.diff(u, prepend=0.0)
    shears = force(drifts)
    on_floors = shears - np.append(shears[1:], 0.0)
    return np.concatenate([drifts, shears, -np.linalg.solve(M, C @ v + on_floors)])


def test_a_linear_frame_is_the_one_of_displacements():
    M, K = matrices(MASSES, STIFFNESSES)
    C = rayleigh(M, K, 0.05)
    frame = rode.shear_frame(MASSES, STIFFNESSES, 0.05, excitation=SHAKE, scale=2.0)
    T = np.eye(3) - np.eye(3, k=-1)  # drifts of displacements
    full = linalg.block_diag(T, T)
    zero, one, inverse = np.zeros((3, 3)), np.eye(3), np.linalg.inv(M)
    A = np.block([[zero, one], [-inverse @ K, -inverse @ C]])
    np.testing.assert_allclose(frame.matrix() @ full, full @ A, rtol=1e-12, atol=1e-10)
    p = tuple(map(float, frame.parameters[:, 0]))
    np.testing.assert_allclose(frame.B.py_func(p), full @ [0, 0, 0, -2.0, -2.0, -2.0])
    rng = np.random.default_rng(1)
    u, v = rng.normal(size=(2, 3))
    expected = observed(M, C, u, v, STIFFNESSES, lambda d: STIFFNESSES * d)
    found = frame.observe.py_func(0.0, tuple(full @ np.append(u, v)), 0.3, p)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert frame.outputs[::3] == ("drift[1]", "shear[1]", "acceleration[1]")


def test_bouc_wen_against_an_integration_by_scipy():
    rng = np.random.default_rng(2)
    dt, record = 0.05, 3.0 * rng.normal(size=81)
    m, k, c = np.array([[30.0, 40.0], [25.0, 25.0]]), STIFFNESSES[:2], np.array([40.0, 30.0])
    loop = {"alpha": 0.1, "beta": 0.7, "gamma": 0.2, "exponent": 2.0}
    yields, scales = np.array([0.01, 0.02]), np.array([1.0, 0.4])
    names = ("drift", "shear", "acceleration", "ground", "velocity[2]", "displacement[2]")
    frame = rode.shear_frame(
        m, k, dashpots=c, excitation=rode.Record(record, dt), scale=scales, outputs=names,
        hysteresis=rode.BoucWen(yield_drift=yields, **loop),
    )  # fmt: skip
    result = rode.solve(
        frame, "averaged-heun", t_span=(0, 4), h=2.0**-11, paths=2, sampling="exact", rng=1,
        reduction="paths", save_every=64,
    )  # fmt: skip
    for path in range(2):
        M = np.diag(m[:, path])
        C = matrices(m[:, path], c)[1]

        def ground(t, path=path):
            return scales[path] * np.interp(t, dt * np.arange(81), record)

        def force(d, z):
            return k * (0.1 * d + 0.9 * z)

        def rates(t, y, M=M, C=C, ground=ground):
            u, v, z = y[:2], y[2:4], y[4:]
            q = force(np.array([u[0], u[1] - u[0]]), z)
            a = np.linalg.solve(M, -C @ v - np.array([q[0] - q[1], q[1]])) - ground(t)
            d = np.array([v[0], v[1] - v[0]])
            grow = d - (np.abs(z) / yields) ** 2 * (0.7 * np.abs(d) * np.sign(z) + 0.2 * d)
            return np.concatenate([v, a, grow])

        exact = integrate.solve_ivp(
            rates, (0, 4), np.zeros(6), t_eval=result.t, rtol=1e-8, atol=1e-10, max_step=dt / 4
        )
        for j, t in enumerate(result.t):
            u, v, z = exact.y[:2, j], exact.y[2:4, j], exact.y[4:, j]
            seen = observed(M, C, u, v, k, lambda d, z=z: force(d, z))
            expected = [*seen, ground(t), v[1], u[1]]
            size = np.abs(result.paths[:, :, path]).max(axis=0)
            error = np.abs(result.paths[j, :, path] - expected) / size
            assert error.max() < 2e-3, (t, error)
    assert np.abs(result["drift[1]"].paths).max() > 2 * yields[0]  # it has yielded


def test_two_hundred_storeys_follow_their_modes():
    """Modal superposition under a record, whose modes SciPy solves; the parts of a run agree."""
    rng, n, dt, T = np.random.default_rng(4), 200, 0.125, 4.0
    m, k = rng.uniform(20, 30, n), rng.uniform(20e3, 40e3, n)
    record = rng.normal(size=(2, round(T / dt) + 1))
    names = ("drift", "shear", "acceleration", "displacement", "velocity", "ground")
    # With the noise the frame takes the compiled code of the next test.
    shake = rode.Sum(rode.Record(record, dt), rode.Filtered.kanai_tajimi(c=1e-40))
    frame = rode.shear_frame(m, k, 0.05, excitation=shake, scale=[1.0, 2.0], outputs=names)
    settings = {"t_span": (0, T), "h": 1 / 256, "paths": 2, "sampling": "exact", "rng": 1}
    result = rode.solve(frame, "5-rode-taylor", **settings, save_every=512, device="cpu")
    again = rode.solve(frame, "5-rode-taylor", **settings, save_every=512, parts=2, device="cpu")
    np.testing.assert_array_equal(again.paths, result.paths)
    M, K = matrices(m, k)
    squares, modes = linalg.eigh(K, M)
    damping = np.diag(modes.T @ rayleigh(M, K, 0.05) @ modes)
    times, a = dt * np.arange(record.shape[1]), 2.0 * record[1]
    q = np.zeros((2, n, times.size))
    for j, share in enumerate(modes.T @ m):
        A, b = [[0.0, 1.0], [-squares[j], -damping[j]]], [[0.0], [-share]]
        q[:, j] = signal.lsim((A, b, np.eye(2), np.zeros((2, 1))), a, times)[2].T
    for row, t in enumerate((16, 32), 1):
        u, v = modes @ q[0, :, t], modes @ q[1, :, t]
        total = -modes @ (damping * q[1, :, t] + squares * q[0, :, t])
        drift, begin = np.diff(u, prepend=0.0), 0
        for expected in (drift, k * drift, total, u, v, a[t : t + 1]):
            found = result.paths[row, begin : begin + expected.size, 1]
            assert np.abs(found - expected).max() < 1e-4 * np.abs(expected).max()
            begin += expected.size
    with pytest.raises(ValueError, match="'3-rode-taylor' for a frame of more than 50 storeys"):
        rode.solve(frame, "averaged-heun", **settings)


@pytest.mark.statistical
def test_variances_of_two_hundred_storeys_are_those_of_lyapunov():
    """P(t) = P + e^(At) (P(0) - P) e^(A't), with the stationary covariance P."""
    n, paths, T = 200, 500, 4.0
    shake = rode.Sum(rode.Record([0.0, 0.0], T), SHAKE)
    frame = rode.shear_frame(np.full(n, 20.0), 40e3, 0.05, excitation=shake, outputs="drift")
    result = rode.solve(
        frame, "5-rode-taylor", t_span=(0, T), h=2.0**-8, paths=paths, sampling="exact", rng=3,
        reduction="moments", save_every=1024, device="cpu",
    )  # fmt: skip
    B = np.array(frame.B.py_func(tuple(frame.parameters[:, 0])))
    A = np.block([[frame.matrix(), np.outer(B, SHAKE.C[0])], [np.zeros((2, 2 * n)), SHAKE.F]])
    noise = np.append(np.zeros(2 * n), SHAKE.L[:, 0])
    P = linalg.solve_continuous_lyapunov(A, -np.outer(noise, noise))
    start, carry = np.zeros_like(P), linalg.expm(T * A)
    start[2 * n :, 2 * n :] = SHAKE.covariance
    exact = np.diag(P + carry @ (start - P) @ carry.T)[:n]
    scores = (result.variance[-1] / exact - 1.0)[:100] / math.sqrt(2 / paths)
    assert np.abs(scores).max() < 5.0, scores
    assert abs(scores.mean()) < 2.0
