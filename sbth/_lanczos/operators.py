"""Linear operators: functions that multiply a vector, with checks of their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

_SYMMETRY = {
    "matrix": {4: 1e-4, 8: 1e-10},
    "operator": {4: 1e-2, 8: 1e-6},
    "factors": {4: np.inf, 8: np.inf},
}
"""Largest difference of x^H A y and (A x)^H y, by the bytes of a real number, in units of the
lengths of A x and A y, for random unit vectors x and y. Operators may contain iterations that stop
early. Factors of a Hermitian matrix that is nearly singular show its rounding errors instead."""


@dataclass(frozen=True)
class Operator:
    """A Hermitian linear operator on vectors of one array module.

    Attributes
    ----------
    name : str
        Argument of the public function from which it comes.
    order : int
    dtype : numpy.dtype
        float32, float64, complex64 or complex128: that of the vectors.
    xp : module
        NumPy or CuPy.
    product : callable
        Returns the image (n,) of a vector (n,).
    factor : float
        Power of two by which the images are multiplied.
    """

    name: str
    order: int
    dtype: np.dtype
    xp: ModuleType
    product: Callable[[Any], Any]
    factor: float = 1.0

    @property
    def eps(self) -> float:
        """Relative spacing of the numbers."""
        return float(np.finfo(self.dtype).eps)

    def apply(self, x: Any) -> Any:
        """Return the image of a vector.

        Raises
        ------
        TypeError, ValueError
            The image has another shape, or is complex for a real operator.
        """
        image = self.product(x)
        shape, dtype = getattr(image, "shape", None), getattr(image, "dtype", None)
        if shape not in ((self.order,), (self.order, 1)):
            raise ValueError(
                f"{self.name} must map vectors of length {self.order} to such vectors, got "
                f"{'no array' if shape is None else f'the shape {shape}'}"
            )
        kind = getattr(dtype, "kind", "")
        if kind not in "fiubc" or (kind == "c" and self.dtype.kind != "c"):
            raise TypeError(
                f"{self.name} must map vectors of {self.dtype} to such vectors, got {dtype}: "
                "its dtype must be that of its products"
            )
        image = image.reshape(self.order).astype(self.dtype, copy=False)
        return image if self.factor == 1.0 else image * self.dtype.type(self.factor).real

    def refuse_values(self) -> NoReturn:
        """Raise the error for products that are not finite."""
        raise ValueError(
            f"{self.name} must have finite products with vectors, got NaN or infinity, also "
            "where the product exceeds the largest number"
        )

    def random_vector(self, random: np.random.Generator) -> Any:
        """Return a vector of independent normal numbers, the same on every device."""
        x = random.standard_normal(self.order)
        if self.dtype.kind == "c":
            x = x + 1j * random.standard_normal(self.order)
        return self.xp.asarray(x.astype(self.dtype))


def require_hermitian(operator: Operator, kind: str, random: np.random.Generator) -> float:
    """Compare the products of two random vectors; return the largest element of the products.

    Parameters
    ----------
    operator : Operator
    kind : {"matrix", "operator", "factors"}
        How exact its products are; those of factors are not compared.
    random : numpy.random.Generator

    Raises
    ------
    ValueError
        The operator is not Hermitian, or a product is not finite.
    """
    xp = operator.xp
    x, y = operator.random_vector(random), operator.random_vector(random)
    x, y = x / xp.linalg.norm(x), y / xp.linalg.norm(y)
    of_x, of_y = operator.apply(x), operator.apply(y)
    largest = max(float(abs(of_x).max()), float(abs(of_y).max()))
    if not np.isfinite(largest):
        operator.refuse_values()
    if largest == 0.0:
        return largest
    of_x, of_y = of_x / of_x.dtype.type(largest), of_y / of_y.dtype.type(largest)
    difference = abs(complex(xp.vdot(x, of_y)) - complex(xp.vdot(of_x, y)))
    size = float(xp.linalg.norm(of_x)) + float(xp.linalg.norm(of_y))
    if difference > _SYMMETRY[kind][operator.dtype.type(0).real.itemsize] * size:
        adjective = "Hermitian" if operator.dtype.kind == "c" else "symmetric"
        raise ValueError(
            f"{operator.name} must be {adjective}: for two random unit vectors, x^H (A y) and "
            f"(A x)^H y differ by {difference / size:.2g} of |A x| + |A y|"
        )
    return largest
