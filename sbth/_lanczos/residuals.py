"""Residuals of the computed eigenpairs with the matrix itself, and what is done if they are large.

Convergence is measured in units of the largest eigenvalue of the operator of an iteration. With a
shift near an eigenvalue that of the inverse is so large that the others are not resolved beside it.
Another multiplication by the inverse makes its eigenvectors accurate (Peters and Wilkinson 1979),
so that an iteration orthogonal to them finds the others.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from sbth._lanczos.arguments import Arguments
from sbth._lanczos.operators import Operator
from sbth._lanczos.thick_restart import Iteration, Outcome

AIM = 100.0
"""Residual, in units of eps |A|, above which a pair is computed again."""

LIMIT = 1e5
"""Residual, in units of eps |A|, above which the results are an error. Small pivots of a
factorization leave residuals between both."""

SLACK = 4.0
"""Factor by which residuals may exceed `tol`, which is compared with estimates."""

INEXACT = {4: 1e-2, 8: 1e-6}
"""The same for operators of users, by the bytes of a real number, in units of |A|: they may contain
iterations that stop early, for which there is a warning."""

_SPREAD = 4.0
"""Factor of the smallest residual up to which others are as good. Not tuned."""

_POWER_STEPS = 3


@dataclass
class Residuals:
    """The residuals of eigenpairs of a matrix.

    Attributes
    ----------
    matrix : Operator
        The matrix A itself, perhaps multiplied by a factor.
    operator : Operator
        A, or (A - shift)^-1, perhaps multiplied by another one.
    shift : float, optional
    arguments : Arguments
    is_exact : bool
        False if A or the inverse is an operator of the user.
    random : numpy.random.Generator
    norm : float
        An estimate of |A|, once it was needed.
    """

    matrix: Operator
    operator: Operator
    shift: float | None
    arguments: Arguments
    is_exact: bool
    random: np.random.Generator
    norm: float = 0.0

    def eigenvalues(self, outcome: Outcome) -> np.ndarray:
        """Return eigenvalues of A without a factor, from those of the operator."""
        if self.shift is None:
            return outcome.values / self.operator.factor
        return self.shift + self.operator.factor / outcome.values

    def improve(self, iteration: Iteration, outcome: Outcome) -> Outcome:
        """Return an outcome whose residuals are small, by more iterations if need be.

        Without a shift, where residuals are known from the iteration, that of a random combination
        of all is computed, which takes one product.
        """
        if not outcome.is_converged:
            return outcome
        if self.shift is None:
            outcome.residual = self._combined_residual(outcome) / (iteration.space.norm or 1.0)
            return outcome
        self.norm = self._estimate_norm()
        best = 0
        while outcome.is_converged:
            errors, _ = self._errors(outcome)
            # Multiplication spoils vectors of the smallest eigenvalues of the inverse.
            if np.all(errors <= self._aim) or self.arguments.which == "SM":
                break
            iteration.space.multiply_locked()
            outcome = iteration.outcome()
            errors, quotients = self._errors(outcome)
            with np.errstate(divide="ignore"):
                iteration.space.values = self.operator.factor / (quotients - self.shift)
            outcome = iteration.outcome()
            # Factors with small pivots may give no better ones.
            attainable = min(_SPREAD * float(np.min(errors)), LIMIT * self.matrix.eps)
            good = np.flatnonzero(errors <= max(self._aim, attainable))
            if good.size == errors.size or good.size <= best:
                break
            best = good.size
            outcome = iteration.resume(good)
        outcome.residual = float(np.max(errors))
        return outcome

    @property
    def _aim(self) -> float:
        """The residual above which a pair is computed again."""
        return max(AIM * self.matrix.eps, SLACK * self.arguments.tolerance)

    def are_acceptable(self, outcome: Outcome) -> bool:
        """Return whether the residuals of an outcome may be returned, perhaps with a warning."""
        if outcome.residual <= max(LIMIT * self.matrix.eps, SLACK * self.arguments.tolerance):
            return True
        if self.is_exact or outcome.residual > INEXACT[self.matrix.dtype.type(0).real.itemsize]:
            return False
        cause = "a is inexact"
        if self.shift is not None:
            cause = f"a or OPinv is inexact, or sigma={self.arguments.sigma!r} near an eigenvalue"
        warnings.warn(
            f"residuals |a v - w v| are up to {outcome.residual:.2g} of the norm of a: {cause}",
            RuntimeWarning,
            stacklevel=4,
        )
        return True

    def _combined_residual(self, outcome: Outcome) -> float:
        """Return the residual of a normalized sum of all eigenvectors with random signs."""
        xp, signs = self.matrix.xp, self.random.choice((-1.0, 1.0), outcome.values.size)
        weights = xp.asarray(np.stack([signs, signs * outcome.values]), dtype=self.matrix.dtype)
        combined, expected = weights @ outcome.rows
        residual = self.matrix.apply(combined) - expected
        return float(xp.linalg.norm(residual)) / math.sqrt(signs.size)

    def _errors(self, outcome: Outcome) -> tuple[np.ndarray, np.ndarray]:
        """Return |A v - w v| of all pairs, in units of |A|, and Rayleigh quotients v^H A v."""
        xp, errors, quotients = self.matrix.xp, [], []
        for v, w in zip(outcome.rows, self.eigenvalues(outcome), strict=True):
            image = self.matrix.apply(v)
            quotient = xp.vdot(v, image).real
            quotients.append(float(quotient) / self.matrix.factor)
            # For an inverse of another shift the quotients are right, but not the values.
            change = abs(w - quotients[-1]) * self.matrix.factor
            errors.append(max(float(xp.linalg.norm(image - quotient * v)), change))
        return np.array(errors) / (self.norm or 1.0), np.array(quotients)

    def _estimate_norm(self) -> float:
        """Return a lower bound of the norm of A, and |sigma|, by some steps of the power method."""
        xp, x = self.matrix.xp, self.matrix.random_vector(self.random)
        norm = abs(self.shift or 0.0) * self.matrix.factor
        for _ in range(_POWER_STEPS):
            length = float(xp.linalg.norm(x))
            if length == 0.0:
                break
            x = self.matrix.apply(x / x.dtype.type(length).real)
            norm = max(norm, float(xp.linalg.norm(x)))
        return norm
