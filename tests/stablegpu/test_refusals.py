"""What the functions of `stablegpu` refuse: errors name the argument, its value and a remedy."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import levy_stable

import stablegpu
from stablegpu import bootstrap, fit, goodness_of_fit, kupiec_test, profile_likelihood, regress
from stablegpu.evaluators import Quadrature

NINE, TWENTY = np.arange(9.0), np.arange(20.0) ** 2
X = levy_stable.rvs(1.6, 0.2, size=(3, 400), random_state=1)
MASKED = np.ma.masked_greater(X, 0.0)
GAPS = np.where(np.arange(9) < 4, 1.0, np.nan)
SINE = np.sin(np.arange(30))


def law(alpha=1.5, beta=0.5, *place, **options):
    return stablegpu.stable(alpha, beta, *place, **options)


def pdf(alpha=1.5, beta=0.0, **options):
    return stablegpu.pdf(0.0, alpha, beta, **options)


def fix(data=TWENTY, **fixed):
    return fit(data, fixed=fixed)


def of_rows(function, *arguments, **changes):
    """Call a function of one fit with several fits."""
    return function(replace(fit(X[:2], device="cpu"), **changes), *arguments)


def of_one(function, *arguments, **options):
    return function(fit(X[0], device="cpu", **options), *arguments)


VALUES = {
    # Distributions and functions of arrays
    r"alpha must lie in \(0, 2\], got 0": lambda: law(0.0),
    r"beta must lie in \[-1, 1\], got -1.5": lambda: law(beta=-1.5),
    r"scale must lie in \(0, inf\), got 0": lambda: law(1.5, 0.5, 0.0, 0.0),
    "parameterization must be one of 'S1', 'S0'": lambda: law(parameterization="S2"),
    "device must be": lambda: law(device="gpu"),
    "evaluator must be None, one of 'quad": lambda: law(evaluator="series"),
    "panels": lambda: Quadrature(panels=33),
    r"alpha must lie in \(0, 2\], .* got 0.0 at index \(1,\)": lambda: pdf([1.5, 0.0]),
    r"alpha must lie in \(0, 2\], from 1e-300 on, got nan": lambda: pdf(np.nan),
    r"beta must lie in \[-1, 1\], got -1.5 at index \(0, 1\)": lambda: pdf(1.5, [[0.5, -1.5]]),
    "loc must be finite, got inf": lambda: pdf(loc=[np.inf]),
    "scale must be positive and finite": lambda: pdf(scale=-2.0),
    "which does not broadcast with the shape": lambda: pdf([1.5, 1.2], [0.1, 0.2, 0.3]),
    r"x must not be masked: pass compressed\(\)": lambda: stablegpu.pdf([*MASKED], 1.5, 0.0),
    "alpha must lie in": lambda: stablegpu.fisher_information(2.0, 0.0),
    "beta must lie in": lambda: stablegpu.fisher_information(1.5, 1.0),
    "data must be finite values of one": lambda: kupiec_test([1.0, math.nan], 1.0, 0.99),
    "value_at_risk must": lambda: kupiec_test([1.0], math.nan, 0.99),
    # Data of fits
    "at least 5": lambda: fit([1.0, 2.0]),
    "at least one data set": lambda: fit(np.zeros((0, 9))),
    "must vary": lambda: fit([1.0] * 18 + [2.0] * 2),
    "data must be finite": lambda: fit([1, 2, 3, -np.inf, 5, 6]),
    "rescale": lambda: fit([1e308, -1e308, 1.7e308, -1.7e308, 0.0]),
    "at least 5 values in a set beside NaN": lambda: fit(GAPS, nan_policy="omit"),
    r"masked: fill the gaps, for example by data\.filled": lambda: fit(MASKED),
    "shape of data": lambda: fit(TWENTY, weights=np.ones(9)),
    "must not all be 0": lambda: fit(TWENTY, weights=np.zeros(20)),
    "weights must .*at least 0": lambda: fit(TWENTY, weights=-np.ones(20)),
    "a sum of at most 9.0072e": lambda: fit(TWENTY, weights=np.full(20, 1e308)),
    "of positive weight in a set, got 4": lambda: fit(TWENTY, weights=np.arange(20) < 4),
    "not exceed upper": lambda: fit(lower=NINE, upper=NINE - 1.0),
    "the same shape": lambda: fit(lower=NINE, upper=np.arange(8.0)),
    "multiples of rounding": lambda: fit(NINE * 0.013, rounding=0.01),
    "never recorded": lambda: fit(NINE, truncation=3.0),
    "needs? method='ml'": lambda: fit(NINE, rounding=1.0, method="mcculloch"),
    "at least as many": lambda: fit(quantiles={0.5: 1.0}),
    "must increase": lambda: fit(quantiles={0.1: 1, 0.2: 0, 0.5: 2, 0.9: 3}),
    "must differ": lambda: fit(quantiles=pd.Series(range(5), [0.1, 0.2, 0.5, 0.5, 0.9])),
    # Fixed parameters
    "fixed may name alpha, beta, loc, scale": lambda: fix(gamma=1.0),
    r"fixed alpha must lie in \[0.1, 2\]": lambda: fix(alpha=0.05),
    "a fixed loc of S1 needs": lambda: fix(loc=0.0),
    "one for each of 1 data sets": lambda: fix(beta=[0.0, 0.1]),
    "fixed needs method='ml'": lambda: fit(TWENTY, fixed={"beta": 0.0}, method="mcculloch"),
    # Linear models
    "constant column": lambda: regress(NINE, np.ones((9, 1))),
    "shape": lambda: regress(NINE, np.ones((8, 1))),
    "at least 7 observations": lambda: regress(np.arange(6.0), np.eye(6)[:, :2]),
    "collinear": lambda: regress(TWENTY, np.arange(20.0)[:, None] * [1.0, 2.0]),
    "must be finite": lambda: regress(np.full(9, np.nan), np.eye(9)[:, :1]),
    "linear f": lambda: regress(0.1 + 0.3 * SINE, SINE[:, None]),
    "a model and X a column": lambda: regress(np.empty((0, 9)), np.eye(9)[:, :1]),
    # Intervals of a fit
    r"points .* \[2, 65536": lambda: of_one(lambda f: profile_likelihood(f, "alpha", points=1)),
    "a fit with method='ml'": lambda: of_one(profile_likelihood, "alpha", method="mcculloch"),
}
"""Words of errors, and calls that raise them."""

TYPES = {
    "alpha must be a real number": lambda: law("1.5"),
    r"alpha must be a real number: stablegpu\.pdf.* arrays": lambda: law([1.2, 1.5]),
    "device must be": lambda: law(device=3),
    "x must": lambda: stablegpu.pdf("one", 1.5, 0.0),
    "level": lambda: law().expected_shortfall("0.9"),
    "data must .*real": lambda: fit([1j] * 9),
    "needs data, or both lower and upper": fit,
    "data, or lower and upper": lambda: fit(NINE, upper=NINE),
    "n belongs to quantiles": lambda: fit(NINE, n=5),
    "not both": lambda: fit(NINE, quantiles={0.5: 1.0}),
    r"'floc'; use fixed=\{'loc': ...\}": lambda: fit(X[0], floc=0.0),
    r"'f1'; use fixed=\{'beta': ...\}": lambda: fit(X[0], f1=0.0),
    "unexpected keyword argument 'nothing'$": lambda: fit(X[0], nothing=0.0),
    "needs X, or the order": lambda: regress(NINE),
    "such as an element of a FitResults": lambda: of_rows(bootstrap),
    "an element of a FitResults": lambda: of_rows(goodness_of_fit),
    "element of a FitResults": lambda: of_rows(profile_likelihood, "alpha"),
    "fit that data set alone": lambda: of_rows(lambda f: f[1].plot(), data=None),
    "replicas must be an integer": lambda: of_one(bootstrap, 2.5),
}


@pytest.mark.parametrize(
    ("error", "words"), [*product([ValueError], VALUES), *product([TypeError], TYPES)]
)
def test_wrong_values_and_types(error, words):
    with pytest.raises(error, match=words):
        (VALUES if error is ValueError else TYPES)[words]()
