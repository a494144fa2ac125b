"""Collision operators: all members of the registry, and some that users could write.

Each is compared with its own plain reference, and with the exact decay of a shear wave, with a body
force, by the compiled functions of cells; loops and kernels are the same for all operators.
"""

from dataclasses import dataclass

import numpy as np
import pytest

import lbm
from compile_cuda import allowed_spills, compile_kernel
from flows import FORMS, TOLERANCE, follow, noisy, pair, pair_in
from lbm.collisions import OPERATORS, make_collision
from lbm.flows import cavity, lid_driven_box, sphere, vortices
from lbm.lattices import D3Q27, LATTICES
from lbm.reference import Reference, equilibrium


@dataclass(frozen=True)
class PlainBGK(lbm.Collision):
    """BGK as the documentation tells a user to write it."""

    tau: float
    is_linear = True
    lattices = tuple(LATTICES)

    @property
    def rates(self):
        return (1 / self.tau,)

    @staticmethod
    def relax(lattice):
        from lbm.collisions.unroll import per_population

        @per_population(lattice, 2)
        def towards(f, e, omega):
            return f + omega * (e - f)

        return lambda f, e, rates: towards(f, e, rates[0])

    def reference_collide(self, f, e):
        return f + (e - f) / self.tau


@dataclass(frozen=True)
class Branching(PlainBGK):
    """BGK with a branch, which the CPU computes for one cell after the other."""

    @staticmethod
    def relax(lattice):
        from lbm.collisions.unroll import per_population

        @per_population(lattice, 2)
        def towards(f, e, omega):
            return f + omega * (e - f) if f > e else f - omega * (f - e)

        return lambda f, e, rates: towards(f, e, rates[0])


OF_USERS = [PlainBGK, Branching]
ALL = [*OPERATORS.values(), *OF_USERS]

ALL_LATTICES = pytest.mark.parametrize("lattice", LATTICES.values(), ids=LATTICES)
SLOW_ON_D3Q27 = pytest.mark.parametrize(
    "lattice", [lbm.D3Q19, pytest.param(D3Q27, marks=pytest.mark.slow)], ids=LATTICES
)


# ---- the compiled functions of cells ---------------------------------------------------------


def make_collide(operator, lattice):
    """Make the compiled function collide(f, rates, force) of a cell with a body force."""
    from lbm._kernels.formulas.cell_formulas import make_cell_functions, make_relaxation

    relaxation = make_relaxation(operator, lattice)
    return make_cell_functions(lattice, *relaxation, forced=True)[1]


class PlaneFlow:
    """Cells on a line of a flow that varies along `k` only, with velocities u [component, cell].

    They collide by the compiled functions of the operator, and NumPy moves what they return: no
    loop is compiled. `walls` stand at both ends; otherwise the line is periodic.
    """

    def __init__(self, operator, lattice, k, u, force=(0.0, 0.0, 0.0), walls=False):
        weights = np.array(lattice.weights)[:, None]
        start = equilibrium(np.ones((u.shape[1], 1, 1)), u[..., None, None], lattice)
        self.f, self.shifts = start[..., 0, 0] - weights, np.array(lattice.velocities) @ k
        self.collide, self.opposite = make_collide(type(operator), lattice), lattice.opposite
        self.rates, self.force, self.walls = operator.rates, force, walls
        if operator.reads_viscosity:
            self.rates += (0.0,)

    def run(self, steps):
        for _ in range(steps):
            cells = [self.collide(tuple(f), self.rates, self.force) for f in self.f.T.tolist()]
            after, self.u = np.array([f for f, *_ in cells]).T, np.array([u for _, *u in cells]).T
            for q, shift in enumerate(self.shifts):
                self.f[q] = np.roll(after[q], shift)
                if self.walls and shift:
                    end = 0 if shift > 0 else -1
                    self.f[q, end] = after[self.opposite[q], end]
        return self


def measure_decay(flow, along, first, steps):
    """Return the decay of a wave along a direction in so many steps after the first ones."""
    phase = 2j * np.pi * np.arange(flow.f.shape[1]) / flow.f.shape[1]
    start, end = (abs((along @ flow.run(n).u * np.exp(-phase)).mean()) for n in (first, steps))
    return np.log(start / end)


def make_wave(n, k, along, height):
    """Return the velocity [component, cell] of a wave along k, and its direction as a unit vector.

    Cells are those on a line on which the phase grows by 2 pi/n between two of them.
    """
    along = np.array(along) / np.linalg.norm(along)
    return height * np.outer(along, np.sin(2 * np.pi * (np.arange(n) + 0.5) / n)), along


@pytest.mark.parametrize(
    ("operator", "lattice"),
    [(o, lbm.D3Q19) for o in ALL] + [(o, D3Q27) for o in OPERATORS.values()],
)
def test_collisions_match_the_reference_of_the_operator(operator, lattice):
    w, collision = np.array(lattice.weights), operator(0.7)
    f = w[:, None, None, None] * np.random.default_rng(2).uniform(0.8, 1.2, (lattice.size, 5, 1, 1))
    rho = f.sum(axis=0)
    u = np.tensordot(np.array(lattice.velocities, float).T, f, 1) / rho
    # Operators that read the eddy viscosity get it behind their rates.
    eddies = (0.03,) * collision.reads_viscosity
    expected = collision.reference_collide(f, equilibrium(rho, u, lattice), *eddies)
    collide, rates = make_collide(operator, lattice), collision.rates + eddies
    for cell in range(5):
        shifted = tuple(map(float, f[:, cell, 0, 0] - w))
        after, *_ = collide(shifted, rates, (0.0, 0.0, 0.0))
        assert np.abs(after + w - expected[:, cell, 0, 0]).max() < 5e-16


@pytest.mark.parametrize("operator", ALL)
def test_a_shear_wave_decays_by_the_viscosity_while_a_force_accelerates_it(operator):
    n, tau, force = 48, 0.8, (3e-6, 2e-6, -1e-6)
    u, along = make_wave(n, (0, 1, 0), (1.0, 0.0, 0.0), 0.01)
    flow = PlaneFlow(operator(tau), lbm.D3Q19, (0, 1, 0), u, force)
    viscosity = measure_decay(flow, along, 100, 200) / 200 / (2 * np.pi / n) ** 2
    assert viscosity == pytest.approx((tau - 0.5) / 3, rel=2e-3)
    assert flow.u.mean(axis=1) == pytest.approx(299.5 * np.array(force), rel=1e-9)
    assert abs(flow.f.sum(axis=0).mean()) < 300 * np.finfo(float).eps


@pytest.mark.parametrize(("operator", "errors"), [
    (lbm.BGK(0.6), (-2.7, -5.9, -1.5)), (lbm.TRT(0.6), (-3.2, -6.2, -1.6)),
    (lbm.RecursiveRegularized(0.6), (0.2, -4.5, -2.3)),
    (lbm.CentralMoments(0.6), (0.2, -4.5, -2.3)),
], ids=lambda value: type(value).__name__)  # fmt: skip
@SLOW_ON_D3Q27
def test_the_viscosity_at_an_angle_to_the_axes_is_as_documented(operator, errors, lattice):
    """Beside exp(-nu k^2 t), with mean flows that c^3 = c does not let these lattices represent."""
    n, nu, steps = 32, (operator.tau - 0.5) / 3, 300
    diagonal = (1, 1, 0), (1, -1, 0)
    straight = (1, 0, 0), (0, 1, 0), (0.1, 0, 0)
    flows = straight, (*diagonal, (0.1, 0.1, 0)), (*diagonal, (0.1, 0, 0))
    for (k, along, mean), error in zip(flows, errors, strict=True):
        u, along = make_wave(n, k, along, 1e-4)
        flow = PlaneFlow(operator, lattice, k, u + np.array(mean)[:, None])
        decay = nu * (2 * np.pi / n) ** 2 * np.dot(k, k) * steps
        measured = 100 * (measure_decay(flow, along, 100, steps) / decay - 1)
        assert measured == pytest.approx(error, abs=0.3)


@pytest.mark.parametrize("operator", [lbm.TRT, lbm.CentralMoments])
def test_the_viscosity_of_a_tilted_wave_converges_with_order_two(operator):
    errors, tau, k = [], 0.8, (1, 1, 1)
    for n in (8, 16, 32):
        u, along = make_wave(n, k, (1.0, -1.0, 0.0), 0.01)
        steps = n * n // 16
        decay = measure_decay(PlaneFlow(operator(tau), D3Q27, k, u), along, steps, steps)
        errors.append(abs(decay / steps / (3 * (2 * np.pi / n) ** 2) / ((tau - 0.5) / 3) - 1.0))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders[-1] == pytest.approx(2.0, abs=0.15)
    assert errors[-1] < 5e-3


@pytest.mark.parametrize("operator", [lbm.Smagorinsky, lbm.SmagorinskyBGK])
def test_the_eddy_viscosity_in_a_channel(operator):
    n, tau, constant, force = 16, 0.8, 2.0, 4e-4
    flow = PlaneFlow(operator(tau, constant), lbm.D3Q19, (0, 1, 0), np.zeros((3, n)),
                     (force, 0.0, 0.0), walls=True).run(2500)  # fmt: skip
    # The shear u' carries the force to the walls: (nu + constant^2 |u'|) u' = force (n/2 - y).
    nu, y = (tau - 0.5) / 3, np.linspace(0.0, n / 2, 32 * n + 1)
    shear = (np.sqrt(nu**2 + 4 * constant**2 * force * (n / 2 - y)) - nu) / (2 * constant**2)
    profile = np.concatenate([[0.0], np.cumsum((shear[1:] + shear[:-1]) / 2 * (y[1] - y[0]))])
    exact = np.interp(np.arange(n // 2) + 0.5, y, profile)
    laminar = force * n**2 / (8 * nu)
    assert exact.max() < 0.8 * laminar
    assert flow.u[0, : n // 2] == pytest.approx(exact, rel=0, abs=0.01 * exact.max())


# ---- whole flows and kernels -----------------------------------------------------------------


def slow_unless(condition, *values):
    """Return a case that is a slow test unless a condition holds."""
    return pytest.param(*values, marks=[] if condition else pytest.mark.slow)


@pytest.mark.parametrize(("operator", "lattice", "storage"), [
    *(slow_unless(o is Branching, o, lbm.D3Q19, "float64") for o in ALL),
    *(slow_unless(False, o, D3Q27, "float64") for o in OPERATORS.values()),
    *(slow_unless(False, o, lbm.D3Q19, "float16") for o in (lbm.TRT,)),
])  # fmt: skip
def test_steps_match_the_reference_of_the_operator(operator, lattice, storage, device):
    """Branches take one cell after the other; `TRT`, in all other tests, takes vectors of cells."""
    for flow in "cavity with bodies", "open channel":
        both = pair(flow, operator(0.7), lattice, device=device, **FORMS[storage])
        follow(*both, 4, TOLERANCE[storage])


def test_an_operator_with_branches_has_the_same_bits_anywhere():
    """A cell is one of a vector, or beside those that fill vectors."""
    shape = (38, 5, 4)
    rho, u = noisy(shape)
    results = [
        lbm.Simulation(shape, collision=Branching(0.7), rho=np.roll(rho, shift, 0),
                       u=np.roll(u, shift, 1), force=(1e-300, 0.0, 0.0), dtype="float64",
                       device="cpu").run(3).populations()
        for shift in (0, 5, 37)
    ]  # fmt: skip
    for shift, shifted in zip((5, 37), results[1:], strict=True):
        assert np.array_equal(np.roll(shifted, -shift, 1), results[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operator", "lattice"),
    [*((o, lbm.D3Q19) for o in ALL), *((o, D3Q27) for o in OPERATORS.values())],
)
def test_kernels_compile_without_spills_and_without_float64(operator, lattice):
    from generated_kernels import lbm_signature_of
    from lbm._kernels.gpu.kernels import make_kernel

    kernel = make_kernel("step", "esoteric", 0, "float32", "faces", operator, True, lattice)
    report = compile_kernel(kernel, lbm_signature_of(operator(0.7)))
    assert report.spills <= allowed_spills()
    assert report.opcodes(".f64") == 0


@pytest.mark.simulator
def test_two_steps_of_a_tiny_flow(device):
    settings = {"collision": Branching(0.7), "force": (1e-4, 0.0, 2e-5)}
    follow(*pair_in((4, 3, 3), settings, dtype="float64", device=device), 2)


# ---- arguments -------------------------------------------------------------------------------


@ALL_LATTICES
@pytest.mark.parametrize("operator", ALL)
def test_linear_operators_say_so(operator, lattice):
    f, e, g, d = np.random.default_rng(4).uniform(-0.1, 0.1, (4, lattice.size, 2, 2, 2))
    collide = operator(0.7).reference_collide
    with np.errstate(invalid="ignore"):  # these are no densities: other operators give NaN
        mixed, apart = collide(f - 2 * g, e - 2 * d), collide(f, e) - 2 * collide(g, d)
    assert np.allclose(mixed, apart, rtol=0, atol=1e-12) == operator.is_linear


def test_flows_take_names_classes_and_operators():
    options, own = {"device": "cpu", "check": 0}, lbm.BGK(0.7)
    assert vortices(8, collision="bgk", **options).simulation.collision == lbm.BGK(0.7)
    assert vortices(8, collision=lbm.BGK, **options).simulation.collision == lbm.BGK(0.7)
    assert vortices(8, collision=own, **options).simulation.collision is own
    assert lid_driven_box((4, 4, 4), tau=0.6, collision="bgk", **options).collision == lbm.BGK(0.6)
    assert cavity(8, reynolds=16, collision="bgk", **options).collision == lbm.BGK(0.65)
    assert cavity(8, reynolds=16, magic=0.1, **options).collision.magic == 0.1
    assert sphere(4, reynolds=4, collision=lbm.BGK, width=2, length=2, **options).steps == 0
    assert lbm.Smagorinsky.suited_to(0.6, 5.0, "free") == lbm.Smagorinsky(0.6, magic=1e-3)


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: cavity(8, reynolds=8, collision="bgk", magic=0.1), ValueError, "no parameter of"),
    (lambda: make_collision(lbm.TRT(0.7), 0.7, magic=0.1), ValueError, "asks for tau=0.7, mag"),
    (lambda: lbm.SmagorinskyBGK(0.6, constant=0.0), ValueError, "constant must lie in"),
])  # fmt: skip
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


@dataclass(frozen=True)
class Incomplete(lbm.Collision):
    tau: float
    rates = ()


@dataclass(frozen=True)
class OfEdges(PlainBGK):
    """An operator that says for which lattices it is, as by default."""

    lattices = lbm.Collision.lattices


def test_incomplete_operators_and_those_of_another_lattice_are_refused():
    assert OfEdges.lattices == ("D3Q19",)
    for operator, error, words in (
        (OfEdges, ValueError, r"OfEdges.* not defined for lattice='D3Q27', only for D3"),
        (Incomplete, TypeError, r"must define relax\(\) or relax_pairs\(\)"),
    ):
        lattice = D3Q27 if operator is OfEdges else lbm.D3Q19
        with pytest.raises(error, match=words):
            lbm.Simulation((4, 4, 4), collision=operator(0.7), lattice=lattice, device="cpu")
    with pytest.raises(NotImplementedError, match="Incomplete has no reference_collide"):
        Reference((4, 4, 4), Incomplete(0.7)).step()


@ALL_LATTICES
@pytest.mark.parametrize("operator", ALL)
def test_operators_conserve_mass_and_momentum(operator, lattice):
    c, w = np.array(lattice.velocities), np.array(lattice.weights)
    noise = np.random.default_rng(5).uniform(0.9, 1.1, (lattice.size, 2, 2, 2))
    f = w[:, None, None, None] * noise
    rho = f.sum(axis=0)
    u = np.tensordot(c.T, f, 1) / rho
    collision = operator(0.7)
    eddies = (np.full((2, 2, 2), 0.3),) * collision.reads_viscosity
    after = collision.reference_collide(f, equilibrium(rho, u, lattice), *eddies)
    assert after.sum(axis=0) == pytest.approx(rho, abs=1e-14)
    assert np.tensordot(c.T, after, 1) == pytest.approx(u * rho, abs=1e-14)
