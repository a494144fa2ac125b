"""Kernels that are made for a problem, with their argument types."""

import numba
import numpy as np

import rode
from kernel_budgets.budget import read_types
from studies.rode.convergence import duffing

_FLOW = "W** W** S** S** u1* u4** u1*** T** T**"
"""Two fields of populations as words and as stored numbers, the walls, and their numbers."""

_CELLS = 8 * " u4"


def _lbm_types(precision, text) -> tuple:
    """Return types, with W for words of populations, S for stored numbers, M for words of moments,
    T for arithmetic."""
    from lbm.lattices.precision import PRECISIONS

    form, moments = PRECISIONS[precision], PRECISIONS[f"{precision} moments"]
    kinds = {"W": form.word, "S": form.storage, "M": moments.storage, "T": form.compute}
    return read_types(text, **{k: numba.from_dtype(np.dtype(kind)) for k, kind in kinds.items()})


def lbm_signature(precision, rates=2) -> tuple:
    """Return the argument types of a step of `lbm`, whose operator has so many rates."""
    return _lbm_types(precision, f"{_FLOW} {rates}xT 3xT {_CELLS}")


def lbm_signature_of(collision, precision="float32") -> tuple:
    """Return the argument types of a step of `lbm` with a collision operator."""
    viscosity = "W*" if collision.reads_viscosity else ""
    return _lbm_types(precision, f"{_FLOW} {len(collision.rates)}xT 3xT {viscosity} {_CELLS}")


def lbm_eddies_signature(precision) -> tuple:
    """Return the argument types of the kernel that computes an eddy viscosity."""
    return _lbm_types(precision, "T** u1* S* T 8xi8")


def lbm_survey_signature(precision) -> tuple:
    """Return the argument types of the kernel `survey` of `lbm`."""
    return _lbm_types(precision, f"{_FLOW} 3xT i4* {_CELLS}")


def lbm_survey_with_scalar_signature(precision) -> tuple:
    """Return the argument types of the kernel `survey_with_scalar` of `lbm`."""
    return _lbm_types(precision, f"{_FLOW} 3xT i4* T** 4xT {_CELLS}")


def lbm_damping_signature(precision) -> tuple:
    """Return the argument types of the kernel `damp` of `lbm`."""
    return _lbm_types(precision, f"{_FLOW} 3xT T* T** 5xu4 2xT {_CELLS}")


def lbm_acceleration_signature(precision) -> tuple:
    """Return the argument types of the kernel `accelerate` of `lbm`."""
    return _lbm_types(precision, f"{_FLOW} 3xT T** T** 4xT {_CELLS}")


def _lbm_item(name, precision):
    """Return the item of a loop over items of `lbm`, by its name in `LBM_ITEMS`."""
    import lbm
    from lbm._coupled.cut_walls import formulas as walls
    from lbm._coupled.moving_bodies import scalar_formulas as heat
    from lbm._coupled.moving_bodies.bounce_formulas import make_bounce
    from lbm._coupled.moving_bodies.change_formulas import make_beside, make_change, make_pack
    from lbm._coupled.moving_bodies.cover_formulas import make_cover
    from lbm._coupled.open_faces import formulas as faces
    from lbm._coupled.scalars import formulas as scalars
    from lbm._coupled.wall_model import formulas as slip
    from lbm._kernels.moments.formulas import make_sum_of_arrivals
    from lbm._post.formulas import add_sample
    from lbm.lattices import D3Q19

    moments = f"{precision} moments"
    of_step = D3Q19, moments, lbm.VremanRecursive, True
    return {
        "interpolate moments": lambda: walls.make_interpolate_moments(*of_step),
        "store moments": lambda: walls.make_store_moments(moments),
        "outlet of moments": lambda: faces.make_correct_moments(
            lbm.NonReflectingOutlet.respond, moments, 3
        ),
        "arrive": lambda: faces.make_arrive(*of_step),
        "add changes": lambda: faces.make_add_changes(moments),
        "sum arrivals": lambda: make_sum_of_arrivals(*of_step),
        "interpolate": lambda: walls.make_interpolate(precision),
        "store": lambda: walls.make_store(precision),
        "+excess": lambda: walls.excess_of_link,
        "*bounce": lambda: make_bounce(precision),
        "?cover": lambda: make_cover(precision, D3Q19),
        "&change": lambda: (make_change(precision, D3Q19), make_beside(precision, D3Q19)),
        "pack": lambda: make_pack(precision, D3Q19),
        "*scalar bounce": lambda: heat.bounce_scalar,
        "*scalar sweep": lambda: heat.sweep_scalar,
        "outlet": lambda: faces.make_correct_cell(lbm.NonReflectingOutlet.respond, precision),
        "inlet": lambda: faces.make_correct_cell(lbm.NonReflectingInlet.respond, precision),
        "free stream": lambda: faces.make_fill(precision),
        "slip": lambda: slip.make_slip(precision),
        "slip of moments": lambda: slip.make_slip_moments(moments),
        "mix": lambda: slip.make_mixing(precision),
        "scalar interpolate": lambda: scalars.interpolate,
        "scalar store": lambda: scalars.store,
        "half force": lambda: scalars.add_half_force,
        "+not finite": lambda: scalars.is_not_finite,
        "sample": lambda: add_sample,
    }[name]()


_BODY = "S* u1* u1* u4** i8*** i8** T* i8* T** i8** i8*"
"""Populations, cells and walls, tables of the lattice, and the poses of a moving body."""

_STEP = "T** T** 1xT T*"
"""Types of walls, directions, rates and the force: `StepArguments.rest` of `lbm`."""

LBM_ITEMS = {
    "*bounce": (176, f"i8** {_BODY} T* T*** T"), "?cover": (80, f"{_BODY} T* T***"),
    "&change": (176, f"T*** i8** {_BODY} T i4*** T**"),
    "pack": (96, "S* i8* u1* u4** i8*** i8* T**"),
    "*scalar bounce": (184, "T**** T**** u1*** i1** u1* i8* T** i8** i8* T* T*** T*"),
    "*scalar sweep": (72, "T**** T**** u1* i8* T** i8** i8* T*"),
    "interpolate": (40, "S* i8* i8* T** T* T* T*"), "store": (32, "S* i8* T* T* i8* T"),
    "interpolate moments": (128, f"M* T* {_STEP} i8** i8** i8** T** T* T* T*"),
    "store moments": (64, "M* T** i8* i8** i8** T* T* T* i8* T"),
    "outlet of moments": (64, "M* i8* T** T** 1xT"),
    "arrive": (96, f"M* T* {_STEP} i8* i8* i8* i8* T* T* T*"),
    "sum arrivals": (128, f"M* T* {_STEP} i8** i8** i8** i8* M*"),
    "add changes": (64, "M* i8* T** T* T*"), "+excess": (48, "T* T*"),
    "outlet": (48, "S* i8** u4* T** T** i8* 1xT"), "inlet": (48, "S* i8** u4* T** T** i8* 1xT"),
    "free stream": (24, "S* i8* T*"), "slip": (96, "S* i8** i8* T* T* i8* i8* i8* T** T** T"),
    "slip of moments": (120, "M* i8* T* T* i8* i8* i8* T** T** T"),
    "mix": (48, "T** S* i8** T** T"), "scalar interpolate": (32, "T* i8* i8* T** T* T*"),
    "scalar store": (24, "T* i8* T*"), "half force": (80, "T**** T**** u1*** 4xT 6xi8"),
    "+not finite": (80, "T**** u1*** 6xi8"), "sample": (48, "T** T** T** T"),
}  # fmt: skip
"""Budgets of registers and argument types of loops over items of `lbm`; sums begin with a plus,
items that add to sums with * or, if they have parts, &, and those that choose with ?."""


def lbm_item_kernel(name, precision):
    """Return the kernel of a loop over items, and its argument types."""
    from lbm._kernels.items.cuda import ADDING, CHOICE, JOINING, LOOP, SUM, make_kernel

    text, first, leading = {
        "+": (SUM, "i8 i8*", 1), "*": (ADDING, "i8* i8 i8 i8**", 4),
        "&": (JOINING, "i8* i8 i8 i8**", 3), "?": (CHOICE, "i8 i8** i8*", 1),
    }.get(name[0], (LOOP, "i8", 1))  # fmt: skip
    item = _lbm_item(name, precision)
    item, part = item if name[0] == "&" else (item, None)
    signature = _lbm_types(precision, f"{first} {LBM_ITEMS[name][1]}")
    return make_kernel(text, item, leading, part), signature


QUAKE = rode.kanai_tajimi()
CORRELATED = [[1.0, 0.5, 0.2], [0.5, 1.0, 0.1], [0.2, 0.1, 1.0]]
EXCITED = rode.additive(
    lambda x, p: (x[1], -p[0] * x[0] - x[1]),
    lambda p: ((0.0, 1.0), (0.5, 1.0), (0.0, 2.0)),
    dimension=2,
    parameters=(40.0,),
    excitation=rode.OU([0.1, 0.5, 1.0], 1.0, correlation=CORRELATED),
)
"""Two unknowns behind three correlated processes."""

GENERAL = rode.general(
    lambda t, x, O, p: (x[1], -(p[0] + O) * x[0]), dimension=2, parameters=(40.0,)
)

RODE_CASES = [
    (QUAKE, "averaged-euler", "path", "float32", None, 88),
    (QUAKE, "averaged-euler", "path", "float32", "fast", 88),
    (QUAKE, "3-rode-taylor", "path", "float64", "float32", 128),
    (QUAKE, "4-rode-taylor", "exact", "float64", None, 128),
    (QUAKE, "3-rode-taylor", "exact", "float32", None, 88),
    (rode.growth(), "averaged-heun", "path", "float32", None, 80),
    (duffing(), "3-rode-taylor", "path", "float32", None, 96),
    (EXCITED, "averaged-heun", "exact", "float32", None, 128),
    (QUAKE, "3-rode-taylor", "exact", "float64", None, 144, True),
    (GENERAL, "heun", "exact", "float64", None, 128, True),
]
"""Cases of the solver: problem, method, sampling, dtype, normals, budget of registers, and whether
paths are solved by steps of h and of 2 h."""
