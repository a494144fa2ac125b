"""Good calls of `stablegpu`."""

import functools

import numpy as np

import stablegpu
from faults.judge import Call, close

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


def _of_method(name, arguments, **options):
    """Return the call of a method of a distribution."""
    return Call(
        f"stablegpu.Stable.{name}",
        getattr(_distribution(), name),
        lambda: dict(arguments()),
        **options,
    )


def _pointwise(name, function):
    def arguments():
        good = {"x": list(POINTS), "alpha": 1.5, "beta": 0.5, "loc": 0.0, "scale": 1.0,
                "parameterization": "S1", "device": "cpu"}  # fmt: skip
        takes_out = name not in ("pdf_cdf", "dlogpdf")
        return good | ({"out": np.empty(3)} if takes_out else {})

    return Call(f"stablegpu.{name}", function, arguments)


CALLS = [
    *(_pointwise(name, getattr(stablegpu, name))
      for name in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "pdf_cdf", "dlogpdf")),
    Call("stablegpu.stable", stablegpu.stable,
         lambda: {"alpha": 1.5, "beta": 0.5, "loc": 0.0, "scale": 1.0, "parameterization": "S1",
                  "evaluator": "nodes", "device": "cpu"}),
    Call("stablegpu.from_scipy", stablegpu.from_scipy,
         lambda: {"alpha": 1.5, "beta": 0.5, "loc": 0.0, "scale": 1.0, "parameterization": "S1",
                  "device": "cpu"}),
    *(Call(f"stablegpu.from_r, pm={pm}", stablegpu.from_r,
           lambda pm=pm: {"alpha": 1.5, "beta": 0.5, "gamma": 1.0, "delta": 0.0, "pm": pm,
                          "device": "cpu"})
      for pm in (0, 2)),
    Call("stablegpu.to_scipy", stablegpu.to_scipy,
         lambda: {"distribution": _distribution(), "parameterization": "S1"}),
    Call("stablegpu.to_r", stablegpu.to_r, lambda: {"distribution": _distribution(), "pm": 0}),
    Call("stablegpu.mode", stablegpu.mode, lambda: {"distribution": _distribution()}),
    Call("stablegpu.value_at_risk", stablegpu.value_at_risk,
         lambda: {"distribution": _distribution(), "level": 0.9, "of": "returns",
                  "evaluator": None, "device": "cpu"}),
    Call("stablegpu.expected_shortfall", stablegpu.expected_shortfall,
         lambda: {"distribution": _distribution(), "level": 0.9, "of": "returns"}),
    Call("stablegpu.kupiec_test", stablegpu.kupiec_test,
         lambda: {"data": list(POINTS), "value_at_risk": 0.7, "level": 0.9, "of": "returns"}),
    Call("stablegpu.ndtr", stablegpu.ndtr,
         lambda: {"x": list(POINTS), "out": np.empty(3), "device": "cpu"}),
    Call("stablegpu.log_ndtr", stablegpu.log_ndtr,
         lambda: {"x": list(POINTS), "out": np.empty(3), "device": "cpu"}),
    Call("stablegpu.expn", stablegpu.expn,
         lambda: {"n": 2, "x": list(POINTS), "out": np.empty(3), "device": "cpu"}),
    Call("stablegpu.logsumexp", stablegpu.logsumexp,
         lambda: {"a": np.ones((2, 3)), "axis": 1, "keepdims": False, "out": np.empty(2),
                  "device": "cpu"},
         untold=("keepdims",)),
    Call("stablegpu.fisher_information", stablegpu.fisher_information,
         lambda: {"alpha": 1.5, "beta": 0.5, "scale": 1.0}, takes_long=True),
    Call("stablegpu.Quadrature", stablegpu.Quadrature,
         lambda: {"panels": 16, "order": 11, "tolerance": 1e-12}),
    Call("stablegpu.Interpolation", stablegpu.Interpolation, lambda: {"tolerance": 1e-10}),
    *(Call(f"stablegpu.fit, {method}", stablegpu.fit,
           lambda method=method: {
               "data": _data(), "method": method, "parameterization": "S1", "fixed": None,
               "progress": False, "executor": None, "comm": None, "device": "cpu",
               **({"weights": np.ones(40)} if method == "ml" else {})},
           untold=("progress",), takes_long=True)
      for method in ("ml", "mcculloch", "koutrouvelis")),
    Call("stablegpu.fit of fixed beta",
         lambda alpha, beta: stablegpu.fit(_data(), fixed={"alpha": alpha, "beta": beta},
                                           device="cpu"),
         lambda: {"alpha": 1.5, "beta": 0.3}, takes_long=True),
    Call("stablegpu.fit_windows", stablegpu.fit_windows,
         lambda: {"series": _data(), "window": 20, "step": 10, "method": "mcculloch",
                  "parameterization": "S1", "index": None, "fixed": None, "progress": False,
                  "executor": None, "comm": None, "device": "cpu"},
         untold=("progress",), takes_long=True),
    Call("stablegpu.fit_stream", stablegpu.fit_stream,
         lambda: {"source": np.array(_data()), "method": "mcculloch", "parameterization": "S1",
                  "fixed": None, "piece": 16, "progress": False, "executor": None, "comm": None,
                  "device": "cpu"},
         untold=("progress",), takes_long=True),
    Call("stablegpu.bootstrap", stablegpu.bootstrap,
         lambda: {"result": _fitted(), "replicas": 5, "confidence": 0.9, "rng": 1,
                  "method": "nonparametric", "executor": None, "comm": None, "device": None},
         takes_long=True),
    Call("stablegpu.goodness_of_fit", stablegpu.goodness_of_fit,
         lambda: {"result": _fitted(), "replicas": 5, "rng": 1}, takes_long=True),
    Call("stablegpu.profile_likelihood", stablegpu.profile_likelihood,
         lambda: {"result": _fitted("ml"), "name": "alpha", "confidence": 0.9, "points": 5},
         takes_long=True),
    *(_of_method(name, lambda: {"x": list(POINTS), "out": np.empty(3)})
      for name in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")),
    *(_of_method(name, lambda: {"p": [0.1, 0.5, 0.9], "out": np.empty(3)})
      for name in ("ppf", "isf")),
    _of_method("pdf_cdf", lambda: {"x": list(POINTS), "out": (np.empty(3), np.empty(3))}),
    _of_method("evaluate", lambda: {"x": list(POINTS), "evaluator": None,
                                    "out": {"pdf": np.empty(3)}}),
    _of_method("plan", lambda: {"evaluator": "nodes"}),
    _of_method("cf", lambda: {"t": list(POINTS)}),
    _of_method("stats", lambda: {"moments": "mv"}),
    _of_method("interval", lambda: {"confidence": 0.9}),
    _of_method("value_at_risk", lambda: {"level": 0.9, "of": "returns"}),
    _of_method("expected_shortfall", lambda: {"level": 0.9, "of": "returns"}),
    _of_method("to_scipy", lambda: {"parameterization": "S1"}),
    _of_method("to", lambda: {"parameterization": "S0"}),
    _of_method("to_r", lambda: {"pm": 0}),
    _of_method("rvs", lambda: {"size": 3, "rng": 1, "dtype": "float64", "out": np.empty(3)},
               nonsense={"dtype": ("type",)}),
    Call("stablegpu.Stable.rvs by size", lambda size: _distribution().rvs(size),
         lambda: {"size": 3}),
    Call("stablegpu.Stable.rvs by random_state",
         lambda random_state: _distribution().rvs(3, random_state=random_state),
         lambda: {"random_state": 1}, known_as={"random_state": ("rng",)}),
    *(Call(f"stablegpu.FitResult.{name}",
           lambda name=name, **a: getattr(_fitted("ml"), name)(**a), lambda: {"confidence": 0.9})
      for name in ("interval", "conf_int", "summary")),
    *(Call(f"stablegpu.FitResult.{name}",
           lambda name=name, **a: getattr(_fitted("ml"), name)(**a),
           lambda: {"level": 0.05, "of": "returns", "confidence": 0.9, "method": "delta"},
           takes_long=True)
      for name in ("value_at_risk", "expected_shortfall")),
    *(Call(f"stablegpu.FitResults.{name}",
           lambda name=name, **a: getattr(_fitted_sets(), name)(**a), lambda: {"confidence": 0.9})
      for name in ("interval", "conf_int")),
    Call("stablegpu.FitResult.plot", lambda ax: close(_fitted().plot(ax)), lambda: {"ax": None},
         takes_long=True),
    Call("stablegpu.FitResults.plot", lambda **a: close(_fitted_sets().plot(**a)),
         lambda: {"name": "alpha", "ax": None}, takes_long=True),
    _of_method("dlogpdf", lambda: {"x": list(POINTS)}),
]  # fmt: skip

NOT_CALLED = {
    "Bootstrap", "Evaluation", "FitResult", "FitResults", "GoodnessOfFit", "Gradient",
    "InterpolationError", "KupiecTest", "ProfileLikelihood", "RiskEstimate", "Stable",
}  # fmt: skip
"""Public names that take no arguments of users: results and errors."""
