"""A stable distribution as a frozen object, with the methods of SciPy's distributions."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hetero import Device, validation
from hetero.devices import parse
from stablegpu._parameters import Parameters, characteristic_function, check_pm
from stablegpu.distributions.base import StableMoments

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import numpy as np
    from numpy.typing import ArrayLike, DTypeLike

    from hetero.distributed.engines import Engine
    from hetero.distributed.worker_devices import Devices
    from stablegpu.distributions.derivatives import Gradient
    from stablegpu.evaluators import Evaluation


@dataclass(frozen=True)
class Stable(StableMoments):
    """An alpha-stable distribution; `stablegpu.stable` makes one.

    Attributes
    ----------
    alpha, beta, loc, scale : float
    parameterization : {"S1", "S0"}
    device, executor, comm : who computes; see `stablegpu.stable`
    evaluator : None, str, stablegpu.Quadrature or stablegpu.Interpolation
    """

    def __post_init__(self) -> None:
        if not isinstance(self.parameters, Parameters):
            raise TypeError(
                f"parameters must be the Parameters of a distribution, got {self.parameters!r}: "
                "stablegpu.stable(alpha, beta) makes a distribution from numbers"
            )

    @functools.cached_property
    def _engine(self) -> Engine:
        """The engine that computes large arrays."""
        from hetero.distributed.engines import Engine

        return Engine.create(self.device, self.executor, self.comm)

    @property
    def alpha(self) -> float:
        """Stability index."""
        return self.parameters.alpha

    @property
    def beta(self) -> float:
        """Skewness."""
        return self.parameters.beta

    @property
    def loc(self) -> float:
        """Location in the distribution's parameterization."""
        return self.parameters.loc

    @property
    def scale(self) -> float:
        """Scale."""
        return self.parameters.scale

    @property
    def parameterization(self) -> str:
        """Parameterization of the location, "S1" or "S0"."""
        return self.parameters.parameterization

    def __repr__(self) -> str:
        p = self.parameters
        device = "" if self.device is None else f", device={str(self.device)!r}"
        evaluator = "" if self.evaluator is None else f", evaluator={self.evaluator!r}"
        return (
            f"stable({p.alpha!r}, {p.beta!r}, loc={p.loc!r}, scale={p.scale!r}, "
            f"parameterization={p.parameterization!r}{device}{evaluator})"
        )

    def _repr_html_(self) -> str:
        from hetero.display.notebook import html_table

        p = self.parameters
        rows: list[tuple[str, object]] = [(n, getattr(p, n)) for n in ("alpha", "beta")]
        rows += [(f"loc ({p.parameterization})", p.loc), ("scale", p.scale)]
        for name in ("device", "evaluator"):
            if getattr(self, name) is not None:
                rows.append((name, str(getattr(self, name))))
        return html_table("Stable distribution", rows)

    def to(self, parameterization: str) -> Stable:
        """Convert to the parameterization "S0" or "S1"; only loc changes."""
        return replace(self, parameters=self.parameters.converted(parameterization))

    def dlogpdf(self, x: ArrayLike) -> Gradient:
        """Return the derivatives of log pdf with respect to x, alpha, beta, loc and scale at `x`.

        A `stablegpu.Gradient`; see `stablegpu.dlogpdf`.
        """
        from stablegpu.distributions.derivatives import dlogpdf

        return dlogpdf(
            x,
            self.alpha,
            self.beta,
            self.loc,
            self.scale,
            parameterization=self.parameterization,
            device=self._engine.local,
        )

    def _quantile(self, p: ArrayLike, upper: bool, out: Any) -> Any:
        from stablegpu._quantiles.quantile import quantile, quantile_in_parts

        options = {"upper": upper, "evaluator": self.evaluator, "out": out}
        if not self._engine.is_single:
            return quantile_in_parts(p, self.parameters, self._engine, **options)
        return quantile(p, self.parameters, device=self._engine.local, **options)

    def _evaluate(
        self,
        x: ArrayLike,
        names: tuple[str, ...],
        evaluator: Any = None,
        out: Mapping[str, Any] | None = None,
    ) -> Evaluation:
        """Evaluate the functions of these names, by this evaluator or that of the distribution."""
        from stablegpu._density.choose import evaluate, evaluate_in_parts

        evaluator = self.evaluator if evaluator is None else evaluator
        if self._engine.is_single:
            return evaluate(
                x,
                self.parameters,
                evaluator=evaluator,
                names=names,
                out=out,
                device=self._engine.local,
            )
        return evaluate_in_parts(
            x, self.parameters, self._engine, evaluator=evaluator, names=names, out=out
        )

    def plan(self, evaluator: Any = "polynomials") -> Stable:
        """Return the same distribution, prepared for evaluation at many points.

        Parameters
        ----------
        evaluator : "polynomials", "nodes" or stablegpu.Interpolation
            Polynomials evaluate pdf, cdf and sf fastest; the logarithms come from nodes. They take
            some milliseconds to prepare (seconds for alpha within 0.07 of 1), nodes about one.

        Returns
        -------
        Stable with this evaluator fixed.

        Raises
        ------
        ValueError : the distribution has no nodes
        stablegpu.InterpolationError : it has no polynomials

        Examples
        --------
        >>> distribution = stable(1.5, 0.5).plan()
        >>> density, probability = distribution.pdf_cdf([0.0, 1.0])
        """
        from stablegpu._density.choose import prepare

        prepare(self.parameters, evaluator)
        return replace(self, evaluator=evaluator)

    def cf(self, t: ArrayLike) -> np.ndarray:
        """Return the characteristic function E exp(i t X), complex128, for real t on the host."""
        return characteristic_function(t, self.parameters)

    def nnlf(self, x: ArrayLike) -> float:
        """Return minus the log-likelihood of independent observations, by SciPy's name for it."""
        return -float(self.logpdf(x).sum())

    def mode(self) -> float:
        """Return the point at which the density is largest; see `stablegpu.mode`."""
        from stablegpu.distributions.modes import mode

        return mode(self)

    def value_at_risk(self, level: ArrayLike, *, of: str = "returns") -> Any:
        """Return the loss that is not exceeded with probability `level`.

        Parameters
        ----------
        level : array_like of float in (0, 1)
            Confidence, for example 0.99.
        of : {"returns", "losses"}
            The quantity that has the distribution. A loss is positive in the result either way: for
            returns it is -ppf(1 - level), for losses isf(1 - level).

        Returns
        -------
        float64 of the shape of `level`.
        """
        from stablegpu.distributions.risk import value_at_risk

        return value_at_risk(
            self.parameters, level, of=of, evaluator=self.evaluator, device=self._engine.local
        )

    def expected_shortfall(self, level: ArrayLike, *, of: str = "returns") -> Any:
        """Return the mean of the losses beyond the value at risk (conditional value at risk).

        Arguments and sign as for `value_at_risk`. Infinite for alpha <= 1, unless the tail of the
        losses is light (returns with beta = 1, losses with beta = -1). The error is about 1e-13 of
        the distance from loc; each level takes about a millisecond on the host.
        """
        from stablegpu.distributions.risk import expected_shortfall

        return expected_shortfall(self.parameters, level, of=of)

    def to_scipy(self, parameterization: str = "S1") -> dict[str, float]:
        """Return alpha, beta, loc and scale: `scipy.stats.levy_stable(**distribution.to_scipy())`.

        For "S0" set `parameterization = "S0"` on that object.
        """
        p = self.parameters.converted(parameterization)
        return {"alpha": p.alpha, "beta": p.beta, "loc": p.loc, "scale": p.scale}

    def to_r(self, pm: int = 0) -> dict[str, float]:
        """Return alpha, beta, gamma, delta and pm as R's `dstable` takes them.

        For pm = 1 delta is the location of S1, for pm = 0 that of S0, for pm = 2 the mode, with
        gamma = scale alpha^(1/alpha).
        """
        pm = check_pm(pm)
        gamma, delta = self.scale, self.to("S1" if pm == 1 else "S0").loc
        if pm == 2:
            gamma, delta = self.scale * self.alpha ** (1.0 / self.alpha), self.mode()
        return {"alpha": self.alpha, "beta": self.beta, "gamma": gamma, "delta": delta, "pm": pm}

    def rvs(
        self,
        size: int | tuple[int, ...] | None = None,
        rng: Any = None,
        *,
        random_state: Any = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
    ) -> Any:
        """Draw independent numbers, float64 or float32; see `stablegpu._sampling.sample.sample`.

        `random_state` is SciPy's name of `rng`; one of them may be given.
        """
        from stablegpu._sampling.sample import sample

        if random_state is not None:
            if rng is not None:
                raise TypeError("rvs() got both rng and random_state; pass rng")
            rng = random_state
        return sample(self.parameters, size, rng=rng, dtype=dtype, out=out, engine=self._engine)


def stable(
    alpha: float,
    beta: float,
    loc: float = 0.0,
    scale: float = 1.0,
    *,
    parameterization: str = "S1",
    evaluator: Any = None,
    executor: Executor | None = None,
    comm: Any = None,
    device: Devices = None,
) -> Stable:
    """Return the alpha-stable distribution S(alpha, beta, scale, loc) as a frozen object.

    Parameters
    ----------
    alpha : float in (0, 2]
        Stability index; 2 is the normal distribution with variance 2 scale^2.
    beta : float in [-1, 1]
        Skewness; positive leans to the right.
    loc : float
        Location: mu of S1, mu0 of S0.
    scale : float > 0
        sigma; for a normal distribution its standard deviation over sqrt(2).
    parameterization : {"S1", "S0"}
        S1: log of the characteristic function -|s t|^alpha (1 - i beta sign(t) tan(pi alpha/2))
        + i loc t, as SciPy's default. S0 moves it by beta scale tan(pi alpha/2), so that it is
        continuous in all parameters; better for fits.
    evaluator : None, "quadrature", "nodes", "polynomials", or their settings
        How densities and distribution functions are computed; None takes the fastest for the
        number of points. All agree to a few 1e-15. See `stablegpu.evaluators.check_evaluator`.
    executor : concurrent.futures.Executor, optional
        Its workers compute parts of pdf, cdf and the like, of quantiles and of random numbers, each
        on a GPU of its own if there is one. Arrays go there and back: this pays from some millions
        of points on.
    comm : communicator of mpi4py, optional
        All its ranks call the methods alike, share the points, and get the same result.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device
        Where to compute; None follows the arrays, `hetero.use_device`, HETERO_DEVICE, and then
        takes the faster one. Several, such as ["cuda:0", "cuda:1"] or "cuda:all", compute parts of
        arrays in host memory side by side; random numbers are the same for any number of parts.
        With an executor or `comm`, "cpu" or "cuda": what each worker takes.

    Raises
    ------
    TypeError, ValueError
        Naming the parameter, its value and the allowed range.

    Examples
    --------
    >>> stable(2.0, 0.0).pdf(0.0)   # 1 / (2 sqrt(pi))
    0.28209479177387814
    """
    named: Any = device
    if device is not None and not isinstance(device, str | Device):
        validation.require_iterable("device", device, "devices")
        named = tuple(device)
    if evaluator is not None:
        from stablegpu.evaluators import check_evaluator

        check_evaluator(evaluator)
    numbers: dict[str, Any] = {"alpha": alpha, "beta": beta, "loc": loc, "scale": scale}
    for name, value in numbers.items():
        if isinstance(value, list | tuple) or getattr(value, "ndim", False):
            raise TypeError(
                f"{name} must be a real number: stablegpu.pdf(x, alpha, beta), cdf, sf, logpdf, "
                "ppf, isf and rvs take arrays of parameters"
            )
    parameters = Parameters.checked(alpha, beta, loc, scale, parameterization)
    distribution = Stable(parameters, named, evaluator, executor, comm)
    parse(distribution._engine.local)  # raises for what is no device; the engine checks the rest
    return distribution
