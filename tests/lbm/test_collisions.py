"""Collision operators: all members of the registry, and some that users could write.

Each is compared with its own plain reference, and with the exact decay of a shear wave, with a body
force.
"""

from dataclasses import dataclass

import numpy as np
import pytest

import lbm
from compile_cuda import allowed_spills, compile_kernel
from flows import pair
from hetero.cuda.driver import SIMULATOR
from lbm._model.precision import PRECISIONS
from lbm.collisions import OPERATORS, make_collision
from lbm.flows import cavity, lid_driven_box, sphere, vortices
from lbm.lattices import D3Q27, LATTICES, lattice_of_size
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


def stress_matrix(lattice):
    """Second moments of populations: xx, xy, xz, yy, yz, zz."""
    c = lattice.velocities
    return np.array([[v[a] * v[b] for v in c] for a in range(3) for b in range(a, 3)])


def of_stress_matrix(lattice):
    """Populations with given second moments, and without density and momentum."""
    rows = [
        [
            4.5 * w * (1 + (a != b)) * (c[a] * c[b] - (a == b) / 3)
            for a in range(3)
            for b in range(a, 3)
        ]
        for w, c in zip(lattice.weights, lattice.velocities, strict=True)
    ]
    return np.array(rows)


@dataclass(frozen=True)
class Regularized(lbm.Collision):
    """An operator with a matrix (Latt and Chopard 2006): it keeps only the viscous stress."""

    tau: float
    is_linear = True
    lattices = tuple(LATTICES)

    @property
    def rates(self):
        return (1 - 1 / self.tau,)

    @staticmethod
    def relax(lattice):
        from lbm.collisions.unroll import matrix_product, per_population

        stress = matrix_product(stress_matrix(lattice))
        of_stress = matrix_product(of_stress_matrix(lattice))
        subtract = per_population(lattice, 2)(lambda f, e: f - e)
        add = per_population(lattice, 2)(lambda e, s, share: e + share * s)
        return lambda f, e, rates: add(e, of_stress(stress(subtract(f, e))), rates[0])

    def reference_collide(self, f, e):
        lattice = lattice_of_size(len(f))
        project = of_stress_matrix(lattice) @ stress_matrix(lattice)
        return e + (1 - 1 / self.tau) * np.tensordot(project, f - e, 1)


@dataclass(frozen=True)
class Nonlinear(lbm.Collision):
    """An operator whose odd rate depends on the state; the viscosity does not depend on that."""

    tau: float
    strength: float = 1e4
    lattices = tuple(LATTICES)

    @property
    def rates(self):
        return 1 / self.tau, self.strength

    @staticmethod
    def relax(lattice):
        from lbm.collisions.unroll import matrix_product, per_population

        total = matrix_product([[1.0] * lattice.size])
        mirror = matrix_product(np.eye(lattice.size)[list(lattice.opposite)])
        subtract = per_population(lattice, 2)(lambda e, f: e - f)
        square = per_population(lattice, 1)(lambda n: n * n)

        @per_population(lattice, 3)
        def relax_one(f, n, opposite, even_rate, odd_rate):
            half = type(f)(0.5)
            return f + half * even_rate * (n + opposite) + half * odd_rate * (n - opposite)

        def relax(f, e, rates):
            n = subtract(e, f)
            one = type(f[0])(1)
            odd_rate = one / (one + rates[1] * total(square(n))[0])
            return relax_one(f, n, mirror(n), rates[0], odd_rate)

        return relax

    def reference_collide(self, f, e):
        n, opposite = e - f, (e - f)[list(lattice_of_size(len(f)).opposite)]
        odd_rate = 1 / (1 + self.strength * (n**2).sum(axis=0))
        return f + (n + opposite) / (2 * self.tau) + odd_rate * (n - opposite) / 2


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


compiled = pytest.mark.skipif(SIMULATOR, reason="the simulator compiles nothing")
ALL = [*OPERATORS.values(), PlainBGK, Regularized, Nonlinear, Branching]

ALL_LATTICES = pytest.mark.parametrize("lattice", LATTICES.values(), ids=LATTICES)

IN_16_BITS = [lbm.TRT, Nonlinear]
"""Operators that are also tried in 16 bits: those on pairs of populations, and those on each."""

# Rounding of the storage: eps of float64, 2^-11 of the largest shifted population.
TOLERANCE = {"float64": 5e-15, "float16": 2e-4}


def difference(ours, theirs):
    rho, u = theirs.moments()
    return max(np.abs(ours.rho - rho).max(), np.abs(ours.u - u).max())


@pytest.mark.parametrize(
    ("operator", "storage"),
    [*((o, "float64") for o in ALL), *((o, "float16") for o in IN_16_BITS)],
)
def test_steps_match_the_reference_of_the_operator(operator, storage, device):
    options = {"device": device, **PRECISIONS[storage].arguments}
    for flow in "cavity with bodies", "open channel":
        ours, theirs = pair(flow, operator(0.7), **options)
        for _ in range(4):
            ours.run(1)
            theirs.step()
            assert difference(ours, theirs) < TOLERANCE[storage]


@compiled
@pytest.mark.parametrize("operator", ALL)
def test_kernels_compile_without_spills_and_without_float64(operator):
    from generated_kernels import lbm_signature_of
    from lbm._engines.cuda_kernels import make_kernel

    kernel = make_kernel("step", "esoteric", 0, "float32", "faces", operator, True)
    report = compile_kernel(kernel, lbm_signature_of(operator(0.7)))
    assert report.spills <= allowed_spills()
    assert report.opcodes(".f64") == 0


@pytest.mark.simulator
@pytest.mark.parametrize("operator", [PlainBGK, Nonlinear])
def test_two_steps_of_a_tiny_flow(operator, device):
    shape, force = (4, 3, 3), (1e-4, 0.0, 2e-5)
    u = 0.03 * np.random.default_rng(2).standard_normal((3, *shape))
    ours = lbm.Simulation(
        shape, collision=operator(0.7), u=u, force=force, dtype="float64", device=device
    )
    theirs = Reference(shape, operator(0.7), force=force)
    theirs.set(np.ones(shape), u)
    for _ in range(2):
        ours.run(1)
        theirs.step()
    assert difference(ours, theirs) < TOLERANCE["float64"]


@pytest.mark.parametrize("operator", ALL)
def test_a_shear_wave_decays_by_the_viscosity_while_a_force_accelerates_it(operator, device):
    n, tau, force = 48, 0.8, (3e-6, 2e-6, -1e-6)
    sine = np.sin(2 * np.pi * (np.arange(n) + 0.5) / n)
    u = np.zeros((3, 4, n, 2))
    u[0] = 0.01 * sine[:, None]
    s = lbm.Simulation(
        u.shape[1:], collision=operator(tau), u=u, force=force, dtype="float64", device=device
    )

    def amplitude():
        return 2 / n * abs(np.fft.fft(s.u[0, 0, :, 0])[1])

    first = s.run(100) and amplitude()
    decay = -np.log(s.run(200) and amplitude() / first) / 200
    viscosity = decay / (2 * np.pi / n) ** 2
    assert viscosity == pytest.approx((tau - 0.5) / 3, rel=2e-3)
    assert s.u.mean(axis=(1, 2, 3)) == pytest.approx(300 * np.array(force), rel=1e-9)
    assert abs(s.drho.mean()) < 300 * np.finfo(float).eps


@pytest.mark.parametrize("operator", [lbm.RecursiveRegularized, lbm.CentralMoments, lbm.BGK])
def test_the_viscosity_in_a_mean_flow(operator):
    n, tau, stream = 32, 0.51, 0.1
    k, u = 2 * np.pi / n, np.zeros((3, n, 2, 2))
    u[0], u[1] = stream, 1e-3 * np.sin(k * (np.arange(n) + 0.5))[:, None, None]
    # The force, across all, takes the code that other tests have compiled.
    s = lbm.Simulation(u.shape[1:], collision=operator(tau), u=u, force=(0.0, 0.0, 1e-9),
                       dtype="float64", device="cpu")  # fmt: skip
    first, second = (abs(np.fft.fft(s.run(800).u[1, :, 0, 0])[1]) for _ in range(2))
    viscosity = np.log(first / second) / (800 * k**2)
    # The equilibrium of second order lacks rho u_x^2 u_y. At rest the lattice adds 0.3 %.
    expected = 1 - 3 * stream**2 if operator is lbm.BGK else 1.0
    assert 3 * viscosity / (tau - 0.5) == pytest.approx(expected, abs=5e-3)


@pytest.mark.parametrize(
    ("operator", "errors"),
    [
        (lbm.BGK(0.6), (-2.7, -5.9, -1.5)),
        (lbm.TRT(0.6), (-3.2, -6.2, -1.6)),
        (lbm.RecursiveRegularized(0.6), (0.2, -4.5, -2.3)),
        (lbm.CentralMoments(0.6), (0.2, -4.5, -2.3)),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("lattice", ["D3Q19", pytest.param("D3Q27", marks=pytest.mark.slow)])
def test_the_viscosity_at_an_angle_to_the_axes_is_as_documented(operator, errors, lattice):
    """Beside exp(-nu k^2 t), with mean flows that c^3 = c does not let these lattices represent."""
    n, nu = 32, (operator.tau - 0.5) / 3
    diagonal = (1, 1), (1, -1)
    flows = ((1, 0), (0, 1), (0.1, 0)), (*diagonal, (0.1, 0.1)), (*diagonal, (0.1, 0))
    for (k, along, mean), error in zip(flows, errors, strict=True):
        shape = n, n if k[1] else 1, 1
        x, y, z = np.ogrid[tuple(slice(0.5, size) for size in shape)]
        phase = 2 * np.pi / n * (k[0] * x + k[1] * y + 0 * z)
        along = np.array([*along, 0.0]) / np.linalg.norm(along)
        u = 1e-4 * np.multiply.outer(along, np.sin(phase))
        u += np.array([*mean, 0.0])[:, None, None, None]
        s = lbm.Simulation(shape, collision=operator, lattice=lattice, u=u, dtype="float64",
                           device="cpu", check=0).run(100)  # fmt: skip
        heights, steps = [], 300
        for _ in range(2):
            heights.append(abs((np.tensordot(along, s.u, 1) * np.exp(-1j * phase)).mean()))
            s.run(steps)
        decay = nu * (2 * np.pi / n) ** 2 * (k[0] ** 2 + k[1] ** 2) * steps
        measured = 100 * (np.log(heights[0] / heights[1]) / decay - 1)
        assert measured == pytest.approx(error, abs=0.3)


@pytest.mark.parametrize("operator", [lbm.Smagorinsky, lbm.SmagorinskyBGK])
def test_the_eddy_viscosity_in_a_channel(operator):
    n, tau, constant, force = 16, 0.8, 2.0, 4e-4
    s = lbm.Simulation((1, n, 1), collision=operator(tau, constant), force=(force, 0.0, 0.0),
                       boundaries={"y": lbm.NoSlip()}, dtype="float64", device="cpu")  # fmt: skip
    s.run(2500)
    # The shear u' carries the force to the walls: (nu + constant^2 |u'|) u' = force (n/2 - y).
    nu, y = (tau - 0.5) / 3, np.linspace(0.0, n / 2, 32 * n + 1)
    shear = (np.sqrt(nu**2 + 4 * constant**2 * force * (n / 2 - y)) - nu) / (2 * constant**2)
    profile = np.concatenate([[0.0], np.cumsum((shear[1:] + shear[:-1]) / 2 * (y[1] - y[0]))])
    exact = np.interp(np.arange(n // 2) + 0.5, y, profile)
    laminar = force * n**2 / (8 * nu)
    assert exact.max() < 0.8 * laminar
    assert s.u[0, 0, : n // 2, 0] == pytest.approx(exact, rel=0, abs=0.01 * exact.max())


def test_parameters_of_the_eddy_viscosity():
    assert lbm.Smagorinsky.suited_to(0.6, 5.0, "free") == lbm.Smagorinsky(0.6, magic=1e-3)
    for operator in lbm.Smagorinsky, lbm.SmagorinskyBGK:
        with pytest.raises(ValueError, match="constant must lie in"):
            operator(0.6, constant=0.0)


@ALL_LATTICES
@pytest.mark.parametrize("operator", ALL)
def test_linear_operators_say_so(operator, lattice):
    f, e, g, d = np.random.default_rng(4).uniform(-0.1, 0.1, (4, lattice.size, 2, 2, 2))
    collide = operator(0.7).reference_collide
    with np.errstate(invalid="ignore"):  # these are no densities: other operators give NaN
        mixed, apart = collide(f - 2 * g, e - 2 * d), collide(f, e) - 2 * collide(g, d)
    assert np.allclose(mixed, apart, rtol=0, atol=1e-12) == operator.is_linear


@ALL_LATTICES
@pytest.mark.parametrize("operator", ALL)
def test_operators_conserve_mass_and_momentum(operator, lattice):
    c, w = np.array(lattice.velocities), np.array(lattice.weights)
    noise = np.random.default_rng(5).uniform(0.9, 1.1, (lattice.size, 2, 2, 2))
    f = w[:, None, None, None] * noise
    rho = f.sum(axis=0)
    u = np.tensordot(c.T, f, 1) / rho
    after = operator(0.7).reference_collide(f, equilibrium(rho, u, lattice))
    assert after.sum(axis=0) == pytest.approx(rho, abs=1e-14)
    assert np.tensordot(c.T, after, 1) == pytest.approx(u * rho, abs=1e-14)


def test_flows_take_names_classes_and_operators():
    options = {"device": "cpu", "check": 0}
    assert vortices(8, collision="bgk", **options).simulation.collision == lbm.BGK(0.7)
    assert vortices(8, collision=PlainBGK, **options).simulation.collision == PlainBGK(0.7)
    own = Nonlinear(0.7, 3.0)
    assert vortices(8, collision=own, **options).simulation.collision is own
    assert lid_driven_box((4, 4, 4), tau=0.6, collision="bgk", **options).collision == lbm.BGK(0.6)
    assert cavity(8, reynolds=16, collision="bgk", **options).collision == lbm.BGK(0.65)
    assert cavity(8, reynolds=16, magic=0.1, **options).collision.magic == 0.1
    assert sphere(4, reynolds=4, collision=PlainBGK, width=2, length=2, **options).steps == 0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: vortices(8, collision="mrt"), ValueError, "collision must be one of 'trt', 'bgk'"),
        (lambda: vortices(8, collision=lbm.BGK(0.8)), ValueError, "pass its class"),
        (lambda: cavity(8, reynolds=8, collision="bgk", magic=0.1), ValueError, "no parameter of"),
        (lambda: make_collision(lbm.TRT(0.7), 0.7, magic=0.1), ValueError, "asks for tau=0.7, mag"),
        (lambda: lbm.Simulation((4, 4, 4), collision=lbm.BGK), TypeError, "must be an operator"),
    ],
)
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


def test_operators_of_another_lattice_are_refused():
    assert OfEdges.lattices == ("D3Q19",)
    with pytest.raises(ValueError, match=r"OfEdges.* not defined for lattice='D3Q27', only for D3"):
        lbm.Simulation((4, 4, 4), collision=OfEdges(0.7), lattice=D3Q27, device="cpu")


class WithoutLattice(Incomplete):
    """An operator that does not make its function for a lattice."""

    @staticmethod
    def relax(f, e, rates):
        return f


def test_incomplete_operators_are_refused():
    with pytest.raises(
        TypeError, match=r"WithoutLattice\.relax must take a lattice.*\(f, e, rates"
    ):
        lbm.Simulation((4, 4, 4), collision=WithoutLattice(0.7), device="cpu")
    with pytest.raises(TypeError, match=r"must define relax\(\) or relax_pairs\(\)"):
        lbm.Simulation((4, 4, 4), collision=Incomplete(0.7), device="cpu")
    with pytest.raises(NotImplementedError, match="Incomplete has no reference_collide"):
        Reference((4, 4, 4), Incomplete(0.7)).step()
