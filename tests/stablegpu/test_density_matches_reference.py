"""Density and distribution function against 25-digit values, and against an oracle of our own."""

import numpy as np
import pytest

from stable_references import DENSITIES, read_rows
from stablegpu import stable
from stablegpu._density.nodes import evaluate as nodes_evaluate
from stablegpu.evaluators import Evaluation, Quadrature

pytestmark = pytest.mark.filterwarnings("ignore:the estimated relative error")

TINY = 1e-290
UNDERFLOWS = [row for row in read_rows("density") if row["digits"] == "0"]


def numbers(row, *names):
    return [float(row[name] or 0.0) for name in names]


def by_law(rows):
    """Rows grouped by (alpha, beta): one call for each distribution."""
    distributions = {}
    for row in rows:
        distributions.setdefault((float(row["alpha"]), float(row["beta"])), []).append(row)
    return distributions.items()


def relative(value, true):
    return abs(value - true) / abs(true) if abs(true) > TINY else abs(value - true)


def evaluated(distribution, x, evaluator=None):
    """All functions, one by one: polynomials would leave them to nodes if logarithms were asked."""
    if evaluator != "polynomials":
        return distribution.evaluate(x, evaluator=evaluator)
    distribution = distribution.plan(evaluator)
    return Evaluation(
        **{name: getattr(distribution, name)(x) for name in ("pdf", "cdf", "sf", "logpdf")}
    )


def worst_errors(rows, device, **options):
    """For every row the largest relative error of pdf, cdf and sf, and the fair tolerance.

    The tolerance is what a few roundings of x and alpha bring. logpdf has to keep it too, taken
    absolutely where it is near 0.
    """
    errors, fair = [], []
    for (alpha, beta), group in by_law(rows):
        x = np.array([float(row["x"]) for row in group])
        distribution = stable(alpha, beta, parameterization="S0", device=device)
        result = evaluated(distribution, x, **options)
        for i, row in enumerate(group):
            worst = max(
                relative(getattr(result, n)[i], float(row[n])) for n in ("pdf", "cdf", "sf")
            )
            log = float(row["logpdf"])
            if np.isfinite(log):
                worst = max(worst, abs(result.logpdf[i] - log) / max(1.0, abs(log)))
            else:
                assert result.logpdf[i] == log
            errors.append(worst)
            x_, dx, da = numbers(row, "x", "dlogpdf_dx", "dlogpdf_dalpha")
            da = da if np.isfinite(da) else 0.0
            fair.append(1e-13 + 8 * 2.0**-52 * (abs(x_ * dx) + alpha * abs(da)))
    return np.array(errors), np.array(fair)


def select(condition):
    chosen = [row for row in DENSITIES if condition(*numbers(row, "alpha", "x"))]
    assert chosen
    return chosen


def core(alpha, x):
    return alpha >= 0.3 and round(abs(alpha - 1), 9) >= 0.01 and abs(x) <= 100


@pytest.mark.parametrize(
    ("evaluator", "covered", "count"),
    [
        ("quadrature", lambda alpha, x: True, 1118),
        (None, lambda alpha, x: True, 1118),
        ("nodes", lambda alpha, x: nodes_evaluate.has_nodes(alpha), 733),
        ("polynomials", lambda alpha, x: nodes_evaluate.has_nodes(alpha) and alpha > 0.18, 662),
    ],
)
def test_every_reference_point(device, evaluator, covered, count):
    """alpha from 0.1 to 2, at and near 1; |x| to 1e6; next to zeta; log pdf down to -7e16."""
    errors, fair = worst_errors(select(covered), device, evaluator=evaluator)
    assert len(errors) == count
    assert np.all(errors <= fair), np.max(errors / fair)
    assert np.median(errors) <= 2e-15


def test_far_tails_at_alpha_one(device):
    """log g is a difference of numbers up to 1e40 there."""
    x = np.logspace(15, 40, 501)
    for beta in (-0.5, 0.3, 1.0):
        result = stable(1.0, beta, device=device).evaluate(x)
        np.testing.assert_allclose(result.pdf * x * x, (1 + beta) / np.pi, rtol=1e-12)
        np.testing.assert_allclose(result.sf * x, (1 + beta) / np.pi, rtol=1e-12)


def test_logarithms_of_both_tails(device):
    for (alpha, beta), group in by_law(select(lambda alpha, x: True)):
        x = np.array([float(row["x"]) for row in group])
        result = stable(alpha, beta, parameterization="S0", device=device).evaluate(x)
        for log, value, other in (
            (result.logcdf, result.cdf, result.sf),
            (result.logsf, result.sf, result.cdf),
        ):
            assert np.all(log <= 0.0)
            with np.errstate(divide="ignore"):
                expected = np.where(value > 0.5, np.log1p(-np.minimum(other, 0.5)), np.log(value))
            visible = value > TINY
            np.testing.assert_allclose(log[visible], expected[visible], rtol=1e-13)


def test_underflow_gives_zero(device):
    for (alpha, beta), group in by_law(UNDERFLOWS):
        distribution = stable(alpha, beta, parameterization="S0", device=device)
        assert np.all(distribution.pdf([float(row["x"]) for row in group]) == 0.0)


def test_continuous_through_alpha_one(device):
    x = np.array([-1e4, -30.0, -2.0, 0.0, 0.3, 5.0, 1e3])
    for beta in (-1.0, -0.3, 1e-9, 0.6):
        at_one = stable(1.0, beta, parameterization="S0", device=device).evaluate(x)
        for alpha in (1 - 1e-14, 1 - 2**-53, 1 + 2**-52, 1 + 1e-13):
            near = stable(alpha, beta, parameterization="S0", device=device).evaluate(x)
            np.testing.assert_allclose(near.logpdf, at_one.logpdf, rtol=2e-11)
            np.testing.assert_allclose(near.sf, at_one.sf, rtol=2e-11, atol=1e-100)


@pytest.mark.parametrize(("panels", "order"), [(16, 9), (16, 15), (8, 15)])
def test_every_rule_reaches_the_accuracy(device, panels, order):
    errors, _ = worst_errors(select(core)[::9], device, evaluator=Quadrature(panels, order, 1e-8))
    assert errors.max() <= 1e-10


def test_the_error_estimate_bounds_the_error():
    for (alpha, beta), group in by_law(select(core)):
        x = np.array([float(row["x"]) for row in group])
        distribution = stable(alpha, beta, parameterization="S0", device="cpu")
        result = distribution.evaluate(x, evaluator=Quadrature(8, 7, 1e-2))
        true = np.array([float(row["pdf"]) for row in group])
        seen = true > TINY
        assert np.all(np.abs(result.pdf - true)[seen] <= (result.error * true + 2e-12 * true)[seen])


def random_law(rng):
    """Parameters where evaluators break: at and near 1 and 2, small alpha, beta near 0 and +-1."""
    alpha = (
        rng.uniform(0.1, 2.0),
        1.0 + rng.choice([-1, 1]) * 10 ** rng.uniform(-15, -1),
        2.0 - 10 ** rng.uniform(-12, -1),
        rng.uniform(0.02, 0.3),
        1.0,
    )[rng.integers(5)]
    tiny = 10 ** rng.uniform(-12, -1)
    beta = rng.choice([rng.uniform(-1, 1), rng.choice([-1, 1]) * (1 - tiny), tiny, 1.0, 0.0])
    return float(alpha), float(beta), str(rng.choice(["S0", "S1"]))


@pytest.mark.parametrize(
    ("evaluator", "laws"), [(Quadrature(12, 15, 1e-9), 200), ("nodes", 60), ("polynomials", 60)]
)
def test_evaluators_agree_on_random_laws(device, evaluator, laws):
    """Within 2e-12 and what a rounding of x and alpha brings far out in light tails.

    Another rule of the quadrature puts every node elsewhere.
    """
    rng, is_rule = np.random.default_rng(12), isinstance(evaluator, Quadrature)
    while laws:
        alpha, beta, parameterization = random_law(rng)
        if not is_rule and (not nodes_evaluate.has_nodes(alpha) or alpha < 0.1):
            continue
        laws -= 1
        x = rng.choice([-1, 1], 20) * 10 ** rng.uniform(-8, 8, 20)
        distribution = stable(alpha, beta, parameterization=parameterization, device=device)
        true = distribution.evaluate(x, evaluator="quadrature")
        assert np.all(true.error < 1e-8), (alpha, beta, parameterization)
        other = evaluated(distribution, x, evaluator)
        for name in ("pdf", "cdf", "sf"):
            a, b = getattr(other, name), getattr(true, name)
            visible = b > TINY
            depth = 1.0 - 0.01 * np.log(np.minimum(b[visible], 1.0))
            limit = 5e-11 if is_rule else 2e-12 * depth
            assert np.all(np.abs(a - b)[visible] <= limit * b[visible]), (alpha, beta, name)


def test_far_tail_of_a_small_alpha(device):
    """The integrand decays over a hundred units of t next to a peak of width one."""
    distribution = stable(0.25, 0.0, parameterization="S0", device=device)
    x = -np.array([3.804376161832472059667396e46, 38043605992797803503294.52])
    result = distribution.evaluate(x, evaluator="quadrature")
    np.testing.assert_allclose(result.cdf, [1e-12, 1e-6], rtol=1e-13)
    assert np.all(result.error < 1e-9)
    np.testing.assert_allclose(distribution.plan().cdf(x), [1e-12, 1e-6], rtol=1e-13)
