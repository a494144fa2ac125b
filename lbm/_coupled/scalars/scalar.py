"""Scalars: temperatures and concentrations that a flow carries, and that may drive it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hetero.validation import check_finite, check_in_range
from lbm.boundaries import FACES, Enclosure, check_vector
from lbm.boundaries.prescribed import InitialField
from lbm.collisions.operator import LARGEST_TAU

CS2 = 0.25
"""Speed of sound of the lattice D3Q7, squared: the diffusivity is CS2 (tau - 1/2)."""

_FIELD_NAMES = (
    *("rho", "drho", "u", "fluid", "pressure", "vorticity", "q", "strain", "time", "steps"),
    *("wall_shear", "y_plus"),
    *("x", "y", "z", "component", "speed", "ux", "uy", "uz"),
)
"""Names of other fields of a flow, of axes of datasets, and of what pictures show."""


@dataclass(frozen=True)
class FixedValue:
    """A face or a solid at a fixed value of a scalar.

    It stands half-way between cells, and at a solid with wall="interpolated" where links meet its
    surface (second order).

    Parameters
    ----------
    value : float
        Temperature or concentration at the wall, or of the fluid that enters.
    """

    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", check_finite("value", self.value))


@dataclass(frozen=True)
class FixedFlux:
    """A face or a solid through which a given amount of a scalar enters, half-way between cells.

    Parameters
    ----------
    flux : float
        Amount per unit of area and time that enters the fluid, value times cells/step; 0 is an
        adiabatic wall.
    """

    flux: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "flux", check_finite("flux", self.flux))


ScalarCondition = FixedValue | FixedFlux


@dataclass(frozen=True, eq=False)
class Scalar:
    """A temperature or a concentration: it moves with the flow and diffuses (lattice D3Q7, TRT).

    Parameters
    ----------
    diffusivity : float
        Cells^2/step, above 0 and at most 24.8. The Prandtl or Schmidt number is the viscosity
        divided by it.
    boundaries : mapping
        Maps faces "x-", ..., axes "x", "y", "z", and names of solids to `FixedValue` or
        `FixedFlux`. Periodic faces are periodic for the scalar. By default walls and solids are
        adiabatic, and a `PressureOutlet` lets the scalar leave; a `VelocityInlet` needs a
        `FixedValue`.
    start : array, number or function
        Initial values [x, y, z], one for all cells, or a function of the centres x, y, z.
    buoyancy : three floats
        Force on the fluid per unit of volume for each unit of the scalar above `reference`
        (Boussinesq): minus the gravity times the coefficient of thermal expansion, in cells/step^2
        per unit. One scalar of a simulation may have a buoyancy.
    reference : float
        Value without buoyancy.
    magic : float
        Magic parameter (tau - 1/2)(tau_even - 1/2) of the two relaxation times, with 1/4 for the
        widest range of stability.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range, or no condition.

    Notes
    -----
    Second order in space (Ginzburg 2005). The equilibrium has the squares of the velocity along the
    axes, without which a flow of 0.05 cells/step would lower the diffusivity by 1 %; their products
    are missing on this lattice. Where the velocity exceeds twice the diffusivity over a cell, steep
    fronts overshoot. In float32 keep values near 0: differences from a mean, not kelvins.
    """

    diffusivity: float
    boundaries: Mapping[str, ScalarCondition] = field(default_factory=dict)
    start: InitialField = 0.0
    buoyancy: Sequence[float] = field(default=(0.0, 0.0, 0.0), metadata={"quantity": "force"})
    reference: float = 0.0
    magic: float = 0.25

    def __post_init__(self) -> None:
        largest = CS2 * (LARGEST_TAU - 0.5)
        diffusivity = check_finite("diffusivity", self.diffusivity)
        if not 0.0 < diffusivity <= largest:
            raise ValueError(
                f"diffusivity must be above 0 and at most {largest:g} cells^2/step, got "
                f"{diffusivity!r}: change the time step or the number of cells"
            )
        object.__setattr__(self, "diffusivity", diffusivity)
        object.__setattr__(self, "buoyancy", check_vector("buoyancy", self.buoyancy))
        object.__setattr__(self, "reference", check_finite("reference", self.reference))
        object.__setattr__(self, "magic", check_in_range("magic", self.magic, 1e-6, 10.0))
        if not isinstance(self.boundaries, Mapping):
            raise TypeError(f"boundaries must map faces to conditions, got {self.boundaries!r}")
        for key, condition in self.boundaries.items():
            if not isinstance(condition, ScalarCondition):
                raise TypeError(
                    f"boundaries[{key!r}] must be lbm.FixedValue or lbm.FixedFlux, got "
                    f"{condition!r}"
                )

    @property
    def rates(self) -> tuple[float, float]:
        """Relaxation rates of the even and of the odd part of opposite populations."""
        odd = self.diffusivity / CS2
        return 1.0 / (0.5 + self.magic / odd), 1.0 / (0.5 + odd)

    @property
    def is_buoyant(self) -> bool:
        """Return whether the scalar drives the flow."""
        return any(self.buoyancy)

    def describe(self) -> str:
        """Return a text that is the same for equal settings, without the start."""
        return (
            f"diffusivity={self.diffusivity!r}, boundaries={dict(self.boundaries)!r}, "
            f"buoyancy={self.buoyancy!r}, reference={self.reference!r}, magic={self.magic!r}"
        )


def boundary_at(scalar: Scalar, name: str) -> ScalarCondition | None:
    """Return the condition at a solid or a face, which may be that of its axis, or None."""
    of_axis = scalar.boundaries.get(name[0]) if name in FACES else None
    return scalar.boundaries.get(name, of_axis)


def check_scalars(scalars: Mapping[str, Scalar] | None, enclosure: Enclosure) -> dict[str, Scalar]:
    """Return the scalars of a simulation by name, the one with a buoyancy first.

    Raises TypeError or ValueError for what are no scalars, for conditions at periodic faces or at
    unknown names, and for inlets without a value.
    """
    if not isinstance(scalars, Mapping | None):
        raise TypeError(
            f"scalars must map names to lbm.Scalar, such as {{'temperature': ...}}, got {scalars!r}"
        )
    for name, scalar in (scalars or {}).items():
        if not isinstance(name, str) or not name.isidentifier() or name in _FIELD_NAMES:
            raise ValueError(
                f"scalars has the key {name!r}: names are letters, digits and underscores, and not "
                f"those of other fields or axes ({', '.join(_FIELD_NAMES)})"
            )
        if not isinstance(scalar, Scalar):
            raise TypeError(f"scalars[{name!r}] must be lbm.Scalar, got {scalar!r}")
        _check_conditions(name, scalar, enclosure)
    checked = dict(scalars or {})
    buoyant = [name for name, scalar in checked.items() if scalar.is_buoyant]
    if len(buoyant) > 1:
        raise ValueError(
            f"the scalars {', '.join(buoyant)} have a buoyancy, but only one of them may"
        )
    return {name: checked[name] for name in sorted(checked, key=lambda n: n not in buoyant)}


def _check_conditions(name: str, scalar: Scalar, enclosure: Enclosure) -> None:
    """Raise ValueError if conditions of a scalar do not suit the walls of the flow."""
    for key in scalar.boundaries:
        if key not in (*"xyz", *enclosure.conditions):
            raise ValueError(
                f"scalars[{name!r}].boundaries has the key {key!r}: use a face "
                f"({', '.join(FACES)}), an axis or the name of a solid"
            )
    for key, condition in enclosure.conditions.items():
        boundary = boundary_at(scalar, key)
        if key in FACES and key in scalar.boundaries and key[0] in scalar.boundaries:
            raise ValueError(f"scalars[{name!r}].boundaries specifies the face {key!r} twice")
        if condition.is_periodic and boundary is not None:
            raise ValueError(
                f"scalars[{name!r}].boundaries: the face {key!r} is periodic for the flow, so "
                "that it has no condition: remove it, or give the flow a wall there"
            )
        needs_value = condition.is_inlet and not condition.is_equilibrium
        if needs_value and not isinstance(boundary, FixedValue):
            raise ValueError(
                f"scalars[{name!r}].boundaries: the inlet {key!r} needs lbm.FixedValue(value), "
                "the value of the fluid that enters"
            )
