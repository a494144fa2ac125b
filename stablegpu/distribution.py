"""The stable law as a frozen object."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from hetero import Device, devices, validation
from stablegpu._parameters import Parameters


@dataclass(frozen=True)
class Stable:
    """An alpha-stable law; made by `stablegpu.stable`.

    Attributes
    ----------
    alpha, beta, loc, scale : float
    parameterization : {"S1", "S0"}
    device : None, str or hetero.Device
    evaluator : None, str, stablegpu.evaluators.Quadrature or stablegpu.evaluators.Interpolation
    """

    parameters: Parameters = field(repr=False)
    device: str | Device | None = None
    evaluator: Any = None

    alpha = property(lambda self: self.parameters.alpha)
    beta = property(lambda self: self.parameters.beta)
    loc = property(lambda self: self.parameters.loc)
    scale = property(lambda self: self.parameters.scale)
    parameterization = property(lambda self: self.parameters.parameterization)

    def __repr__(self) -> str:
        p = self.parameters
        where = "" if self.device is None else f", device={str(self.device)!r}"
        how = "" if self.evaluator is None else f", evaluator={self.evaluator!r}"
        return (
            f"stable({p.alpha!r}, {p.beta!r}, loc={p.loc!r}, scale={p.scale!r}, "
            f"parameterization={p.parameterization!r}{where}{how})"
        )

    def to(self, parameterization: str) -> Stable:
        """Convert to the parameterisation "S0" or "S1"; only loc changes."""
        return replace(self, parameters=self.parameters.converted(parameterization))

    def pdf(self, x, *, out=None):
        """Density at `x`.

        Parameters
        ----------
        x : array_like of float
            Any shape; NaN gives NaN, +-inf gives 0. Arrays on a GPU are evaluated there.
        out : array, optional
            float64, C-contiguous, the shape and the device of `x`.

        Returns
        -------
        float64 array of the kind and shape of `x`; a float for a scalar.

        Notes
        -----
        Relative error at most 1e-13 + 8 eps (|x dlogpdf/dx| + alpha |dlogpdf/dalpha|), that is
        what a rounding of x and alpha brings, on all 1118 reference points: alpha in [0.1, 2],
        near and at 1, |x| <= 1e6, both tails, near zeta. Median 5e-16. The same holds for all
        functions here.
        """
        return self._one("pdf", x, out)

    def logpdf(self, x, *, out=None):
        """log of the density, also where that underflows; see `pdf`."""
        return self._one("logpdf", x, out)

    def dlogpdf(self, x):
        """Derivatives of log pdf with respect to x, alpha, beta, loc and scale, at array_like `x`.

        A `stablegpu.derivatives.Gradient`; see `stablegpu.dlogpdf`.
        """
        from stablegpu.derivatives import dlogpdf

        law = (self.alpha, self.beta, self.loc, self.scale)
        return dlogpdf(x, *law, parameterization=self.parameterization, device=self.device)

    def cdf(self, x, *, out=None):
        """P(X <= x), to full relative accuracy in the left tail; see `pdf`."""
        return self._one("cdf", x, out)

    def logcdf(self, x, *, out=None):
        """log P(X <= x), to full relative accuracy in both tails; see `pdf`."""
        return self._one("logcdf", x, out)

    def sf(self, x, *, out=None):
        """P(X > x), to full relative accuracy in the right tail; see `pdf`."""
        return self._one("sf", x, out)

    def logsf(self, x, *, out=None):
        """log P(X > x), to full relative accuracy in both tails; see `pdf`."""
        return self._one("logsf", x, out)

    def ppf(self, p, *, out=None):
        """Quantile function: x with cdf(x) = p, full relative accuracy in the left tail.

        p outside [0, 1] and NaN give NaN, 0 and 1 the ends of the support; see
        `stablegpu._quantiles.quantile.quantile`.
        """
        from stablegpu._quantiles.quantile import quantile

        return quantile(p, self.parameters, evaluator=self.evaluator, out=out, device=self.device)

    def isf(self, p, *, out=None):
        """x with sf(x) = p, to full relative accuracy in the right tail; see `ppf`."""
        from stablegpu._quantiles.quantile import quantile

        return quantile(
            p,
            self.parameters,
            upper=True,
            evaluator=self.evaluator,
            out=out,
            device=self.device,
        )

    def pdf_cdf(self, x, *, out=None):
        """Density and distribution function by one evaluation of the integrals
        (Julian-Moreno et al. 2016, section 3.3).

        `out` is a pair of arrays, as for `pdf`.
        """
        names = ("pdf", "cdf")
        if out is not None and not (isinstance(out, tuple | list) and len(out) == 2):
            raise TypeError("out must be a pair of arrays, for pdf and cdf")
        result = self._evaluate(x, names, out=dict(zip(names, out or (None, None), strict=True)))
        return result.pdf, result.cdf

    def evaluate(self, x, *, evaluator=None, out=None):
        """All six functions at `x`: a `stablegpu.evaluators.Evaluation`.

        Parameters
        ----------
        evaluator : as for `stable`, for this call
            `stablegpu.evaluators.Quadrature(panels, order, tolerance)` is the papers' rule, with
            its estimate of the error in the result.
        out : dict of arrays by name, optional
        """
        from stablegpu._parameters import NAMES

        return self._evaluate(x, NAMES, evaluator, out)

    def plan(self, evaluator="polynomials") -> Stable:
        """Return the same distribution, prepared for evaluation at many points.

        Parameters
        ----------
        evaluator : "polynomials", "nodes" or stablegpu.evaluators.Interpolation
            Polynomials give pdf, cdf and sf fastest; their logarithms come from nodes. They take
            some milliseconds to prepare (seconds for alpha within 0.07 of 1), nodes one.

        Returns
        -------
        Stable with this evaluator fixed.

        Raises
        ------
        ValueError : the law has no nodes; stablegpu.evaluators.InterpolationError : no polynomials

        Examples
        --------
        >>> law = stable(1.5, 0.5).plan()
        >>> density, distribution = law.pdf_cdf([0.0, 1.0])
        """
        from stablegpu.evaluators import prepare

        prepare(self.parameters, evaluator)
        return replace(self, evaluator=evaluator)

    def _one(self, name, x, out):
        return getattr(self._evaluate(x, (name,), out={name: out}), name)

    def _evaluate(self, x, want, evaluator=None, out=None):
        from stablegpu.evaluators import evaluate

        return evaluate(
            x,
            self.parameters,
            evaluator=self.evaluator if evaluator is None else evaluator,
            want=want,
            out=out,
            device=self.device,
        )

    def cf(self, t):
        """Characteristic function E exp(i t X) as complex128, for array_like real t (host only)."""
        from stablegpu._parameters import characteristic_function

        return characteristic_function(t, self.parameters)

    def support(self) -> tuple[float, float]:
        """Ends of the support: bounded on one side for alpha < 1 and beta = +-1."""
        return self.parameters.support

    def mean(self) -> float:
        """Expectation: infinite for alpha <= 1 and beta = +-1, where one tail is heavy and the
        other light; NaN for alpha <= 1 and |beta| < 1, where there is none."""
        if self.alpha > 1.0:
            return self.to("S1").loc
        return math.copysign(math.inf, self.beta) if abs(self.beta) == 1.0 else math.nan

    def var(self) -> float:
        """Variance: 2 scale^2 for alpha = 2, else infinite."""
        return 2.0 * self.scale**2 if self.alpha == 2.0 else math.inf

    def std(self) -> float:
        """Standard deviation; infinite for alpha < 2."""
        return math.sqrt(self.var())

    def median(self) -> float:
        """The 50 % quantile."""
        return self.ppf(0.5)

    def stats(self, moments: str = "mv") -> tuple[float, ...]:
        """Mean "m", variance "v", skewness "s", excess kurtosis "k", in that order, as in SciPy.

        Skewness and kurtosis exist for alpha = 2 only, where both are 0; NaN otherwise.
        """
        higher = 0.0 if self.alpha == 2.0 else math.nan
        values = {"m": self.mean(), "v": self.var(), "s": higher, "k": higher}
        if not moments or not set(moments) <= set(values):
            raise ValueError(f"moments must be made of the letters m, v, s, k, got {moments!r}")
        return tuple(values[letter] for letter in values if letter in moments)

    def interval(self, confidence: float) -> tuple[float, float]:
        """The central interval of probability `confidence` in [0, 1]."""
        confidence = validation.check_in_range("confidence", confidence, 0.0, 1.0)
        tail = 0.5 * (1.0 - confidence)
        return self.ppf(tail), self.isf(tail)

    def mode(self) -> float:
        """Point at which the density is largest; see `stablegpu.conversions.mode`."""
        from stablegpu.conversions import mode

        return mode(self)

    def value_at_risk(self, level, *, of: str = "returns"):
        """The loss that is not exceeded with probability `level`.

        Parameters
        ----------
        level : array_like of float in (0, 1)
            Confidence, say 0.99.
        of : {"returns", "losses"}
            What the law describes. Losses are positive in the result either way: for returns it
            is -ppf(1 - level), for losses isf(1 - level).

        Returns
        -------
        float64 of the shape of `level`.
        """
        from stablegpu.risk import value_at_risk

        return value_at_risk(self, level, of=of)

    def expected_shortfall(self, level, *, of: str = "returns"):
        """The mean of the losses beyond the value at risk (conditional value at risk).

        Arguments and sign as for `value_at_risk`. Infinite for alpha <= 1, unless the tail of the
        losses is light (returns with beta = 1, losses with beta = -1). Relative error of some
        1e-13 of the distance from loc; computed on the host, about a millisecond a level.
        """
        from stablegpu.risk import expected_shortfall

        return expected_shortfall(self, level, of=of)

    def to_scipy(self, parameterization: str = "S1") -> dict[str, float]:
        """Arguments of `scipy.stats.levy_stable`; see `stablegpu.conversions.to_scipy`."""
        from stablegpu.conversions import to_scipy

        return to_scipy(self, parameterization)

    def to_r(self, pm: int = 0) -> dict[str, float]:
        """Arguments of R's `dstable` and its kin; see `stablegpu.conversions.to_r`."""
        from stablegpu.conversions import to_r

        return to_r(self, pm)

    def rvs(self, size=None, random_state=None, *, dtype=None, out=None):
        """Independent draws, float64 or float32; see `stablegpu._sampling.sample.sample`."""
        from stablegpu._sampling.sample import sample

        return sample(
            self.parameters,
            size,
            random_state=random_state,
            dtype=dtype,
            out=out,
            device=self.device,
        )


def stable(
    alpha,
    beta,
    loc=0.0,
    scale=1.0,
    *,
    parameterization: str = "S1",
    evaluator=None,
    device=None,
) -> Stable:
    """The alpha-stable law S(alpha, beta, scale, loc) as a frozen object.

    Parameters
    ----------
    alpha : float in (0, 2]
        Stability index; 2 is the normal law with variance 2 scale^2.
    beta : float in [-1, 1]
        Skewness; positive leans to the right.
    loc : float
        Location: mu of S1, mu0 of S0.
    scale : float > 0
        sigma; for a normal law its standard deviation over sqrt(2).
    parameterization : {"S1", "S0"}
        S1: log of the characteristic function -|s t|^alpha (1 - i beta sign(t) tan(pi alpha/2))
        + i loc t, as SciPy's default. S0 moves the law by beta scale tan(pi alpha/2) so that it
        is continuous in all parameters; better for fits.
    evaluator : None, "quadrature", "nodes", "polynomials", or their settings
        How densities and distribution functions are computed; None takes what is fastest for the
        number of points. All agree to a few 1e-15. See `stablegpu.evaluators.checked`.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device
        Where to compute; None follows the arrays, `hetero.use_device`, HETERO_DEVICE, then what
        is faster.

    Raises
    ------
    TypeError, ValueError
        Naming the parameter, its value and the allowed range.

    Examples
    --------
    >>> stable(2.0, 0.0).pdf(0.0)   # 1 / (2 sqrt(pi))
    0.28209479177387814
    """
    devices.parse(device)
    if evaluator is not None:
        from stablegpu.evaluators import checked

        checked(evaluator)
    parameters = Parameters.checked(alpha, beta, loc, scale, parameterization)
    return Stable(parameters, device, evaluator)
