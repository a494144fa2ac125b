"""Good calls of `stablegpu`."""

import functools

import numpy as np

import stablegpu
from faults.judge import Later, good

POINTS = (-1.0, 0.5, 2.0)


@functools.cache
def _data():
    return stablegpu.stable(1.6, 0.3, device="cpu").rvs(40, rng=1)


@functools.cache
def _fitted(method="mcculloch"):
    return stablegpu.fit(_data(), method=method, device="cpu")


@functools.cache
def _fitted_sets():
    return stablegpu.fit(_data().reshape(2, -1), method="mcculloch", device="cpu")


def _distribution():
    return stablegpu.stable(1.5, 0.5, device="cpu")


CALLS = [
    *(good(f"stablegpu.{name}", x=list(POINTS), alpha=1.5, beta=0.5, loc=0.0, scale=1.0,
           parameterization="S1", device="cpu",
           **({} if name in ("pdf_cdf", "dlogpdf") else {"out": np.empty(3)}))
      for name in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "pdf_cdf", "dlogpdf")),
    good("stablegpu.stable", alpha=1.5, beta=0.5, loc=0.0, scale=1.0, parameterization="S1",
         evaluator="nodes", device="cpu"),
    good("stablegpu.from_scipy", alpha=1.5, beta=0.5, loc=0.0, scale=1.0, parameterization="S1",
         device="cpu"),
    *(good(f"stablegpu.from_r, pm={pm}", alpha=1.5, beta=0.5, gamma=1.0, delta=0.0, pm=pm,
           device="cpu")
      for pm in (0, 2)),
    good("stablegpu.to_scipy", distribution=Later(_distribution), parameterization="S1"),
    good("stablegpu.to_r", distribution=Later(_distribution), pm=0),
    good("stablegpu.mode", distribution=Later(_distribution)),
    good("stablegpu.value_at_risk", distribution=Later(_distribution), level=0.9, of="returns",
         evaluator=None, device="cpu"),
    good("stablegpu.expected_shortfall", distribution=Later(_distribution), level=0.9,
         of="returns"),
    good("stablegpu.kupiec_test", data=list(POINTS), value_at_risk=0.7, level=0.9, of="returns"),
    good("stablegpu.ndtr", x=list(POINTS), out=np.empty(3), device="cpu"),
    good("stablegpu.log_ndtr", x=list(POINTS), out=np.empty(3), device="cpu"),
    good("stablegpu.expn", n=2, x=list(POINTS), out=np.empty(3), device="cpu"),
    good("stablegpu.logsumexp", a=np.ones((2, 3)), axis=1, keepdims=False, out=np.empty(2),
         device="cpu", untold=("keepdims",)),
    good("stablegpu.fisher_information", alpha=1.5, beta=0.5, scale=1.0, takes_long=True),
    good("stablegpu.Quadrature", panels=16, order=11, tolerance=1e-12),
    good("stablegpu.Interpolation", tolerance=1e-10),
    *(good(f"stablegpu.fit, {method}", data=Later(_data), method=method, parameterization="S1",
           fixed=None, progress=False, executor=None, comm=None, device="cpu",
           **({"weights": np.ones(40)} if method == "ml" else {}), untold=("progress",),
           takes_long=True)
      for method in ("ml", "mcculloch", "koutrouvelis")),
    good("stablegpu.fit of fixed beta",
         lambda alpha, beta: stablegpu.fit(_data(), fixed={"alpha": alpha, "beta": beta},
                                           device="cpu"), alpha=1.5, beta=0.3, takes_long=True),
    good("stablegpu.fit_windows", series=Later(_data), window=20, step=10, method="mcculloch",
         parameterization="S1", index=None, fixed=None, progress=False, executor=None, comm=None,
         device="cpu", untold=("progress",), takes_long=True),
    good("stablegpu.fit_stream", source=Later(lambda: np.array(_data())), method="mcculloch",
         parameterization="S1", fixed=None, nan_policy="omit", piece=16, progress=False,
         executor=None, comm=None, device="cpu", untold=("progress",), takes_long=True),
    good("stablegpu.bootstrap", result=Later(_fitted), replicas=5, confidence=0.9, rng=1,
         method="nonparametric", executor=None, comm=None, device=None, takes_long=True),
    good("stablegpu.goodness_of_fit", result=Later(_fitted), replicas=5, rng=1, takes_long=True),
    good("stablegpu.profile_likelihood", result=Later(lambda: _fitted("ml")), name="alpha",
         confidence=0.9, points=5, takes_long=True),
    *(good(f"stablegpu.Stable.{name}", owner=_distribution, x=list(POINTS), out=np.empty(3))
      for name in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")),
    *(good(f"stablegpu.Stable.{name}", owner=_distribution, p=[0.1, 0.5, 0.9], out=np.empty(3))
      for name in ("ppf", "isf")),
    good("stablegpu.Stable.pdf_cdf", owner=_distribution, x=list(POINTS),
         out=(np.empty(3), np.empty(3))),
    good("stablegpu.Stable.evaluate", owner=_distribution, x=list(POINTS), evaluator=None,
         out={"pdf": np.empty(3)}),
    good("stablegpu.Stable.plan", owner=_distribution, evaluator="nodes"),
    good("stablegpu.Stable.cf", owner=_distribution, t=list(POINTS)),
    good("stablegpu.Stable.stats", owner=_distribution, moments="mv"),
    good("stablegpu.Stable.interval", owner=_distribution, confidence=0.9),
    good("stablegpu.Stable.value_at_risk", owner=_distribution, level=0.9, of="returns"),
    good("stablegpu.Stable.expected_shortfall", owner=_distribution, level=0.9, of="returns"),
    good("stablegpu.Stable.to_scipy", owner=_distribution, parameterization="S1"),
    good("stablegpu.Stable.to", owner=_distribution, parameterization="S0"),
    good("stablegpu.Stable.to_r", owner=_distribution, pm=0),
    good("stablegpu.Stable.rvs", owner=_distribution, size=3, rng=1, dtype="float64",
         out=np.empty(3), nonsense={"dtype": ("type",)}),
    good("stablegpu.Stable.rvs by size", size=3, owner=_distribution),
    good("stablegpu.Stable.rvs by random_state",
         lambda random_state: _distribution().rvs(3, random_state=random_state), random_state=1,
         known_as={"random_state": ("rng",)}),
    *(good(f"stablegpu.FitResult.{name}", owner=lambda: _fitted("ml"), confidence=0.9)
      for name in ("interval", "conf_int", "summary")),
    *(good(f"stablegpu.FitResult.{name}", owner=lambda: _fitted("ml"), level=0.05, of="returns",
           confidence=0.9, method="delta", takes_long=True)
      for name in ("value_at_risk", "expected_shortfall")),
    *(good(f"stablegpu.FitResults.{name}", owner=_fitted_sets, confidence=0.9)
      for name in ("interval", "conf_int")),
    *(good(f"stablegpu.FitResults.{name}", owner=_fitted_sets, level=0.05, of="returns",
           confidence=0.9, method="delta", takes_long=True)
      for name in ("value_at_risk", "expected_shortfall")),
    good("stablegpu.FitResult.plot", owner=_fitted, ax=None, risks=(), takes_long=True),
    good("stablegpu.FitResults.plot", owner=_fitted_sets, name="alpha", ax=None, takes_long=True),
    good("stablegpu.Stable.dlogpdf", owner=_distribution, x=list(POINTS)),
    *(good(f"stablegpu.{name}", p=[0.1, 0.5], alpha=1.5, beta=0.5, loc=0.0, scale=1.0,
           parameterization="S1", executor=None, comm=None, device="cpu")
      for name in ("ppf", "isf")),
    good("stablegpu.rvs", alpha=[1.5, 1.2], beta=0.5, loc=0.0, scale=1.0, size=2, rng=1,
         parameterization="S1"),
    good("stablegpu.Stable.moment", owner=_distribution, order=1),
    good("stablegpu.Stable.nnlf", owner=_distribution, x=list(POINTS)),
    good("stablegpu.Stable.log_probability", owner=_distribution, lower=[0.0], upper=[1.0]),
    good("stablegpu.Stable.expect", owner=_distribution, lb=0.0, ub=1.0, takes_long=True),
    good("stablegpu.regress", y=Later(_data), X=None, ar=1, device="cpu", takes_long=True),
]  # fmt: skip

NOT_CALLED = {
    "Bootstrap", "Evaluation", "FitResult", "FitResults", "GoodnessOfFit", "Gradient",
    "InterpolationError", "KupiecTest", "ProfileLikelihood", "RiskEstimate", "RiskEstimates",
    "Stable", "Comparison", "Prediction", "Regression", "Regression.predict", "scipy_stable",
    "FitResults.select",
}  # fmt: skip
"""Public names that take no arguments of users: results and errors."""
