"""One coarse step of each scheme, made from a user's functions, for both targets.

Additive noise, x' = H(x) + B O: `additive(scheme, H, B)` gives step(t, x, o, forms, p, h), where
`forms` are the linear forms of the path that the scheme uses (`rode._solver.schemes.forms`):
averages A_1, A_2, or the Riemann sums T_0 .. T_(K-1).

Separable noise, x' = G(t, O) + g(t, O) H(x): `separable(scheme, H)` gives
step(x, single, double, p, h) of the averages of (G_1, .., G_n, g).

The functions of a user may return any mixture of floats; `cast` brings them to the type of x.
"""

from numba import int64

from hetero.intrinsics.tuple_algebra import add, axpy, cast, replace_component, scale
from hetero.jit import scalar


def additive(scheme: str, H, B):
    """Make the step of "euler", "averaged-euler", "averaged-heun" or "rode-taylor"."""

    @scalar(forceinline=True)
    def euler(t, x, o, forms, p, h):
        G = scale(forms[0], cast(B(p), h))
        return axpy(h, add(G, cast(H(x, p), h)), x)

    @scalar(forceinline=True)
    def heun(t, x, o, forms, p, h):
        T = type(h)
        b = cast(B(p), h)
        start = cast(H(x, p), h)
        y = axpy(h, axpy(forms[1], b, start), x)
        both = add(start, cast(H(y, p), h))
        return axpy(T(0.5) * h, axpy(T(2.0) * forms[0], b, both), x)

    @scalar(forceinline=True)
    def taylor(t, x, o, forms, p, h):
        # Horner in the matrix A = H': w_0 + A (w_1 + A (..)), w_d = h^(d+1)/(d+1)! f + B T_d.
        T = type(h)
        b = cast(B(p), h)
        f = axpy(o, b, cast(H(x, p), h))
        power = h
        for d in range(1, len(forms)):
            power = power * h / T(d + 1)
        last = len(forms) - 1
        total = axpy(power, f, scale(forms[last], b))
        for d in range(last - 1, -1, -1):
            power = power * T(d + 2) / h
            total = add(cast(H(total, p), h), axpy(power, f, scale(forms[d], b)))
        return add(x, total)

    return {
        "euler": euler,
        "averaged-euler": euler,
        "averaged-heun": heun,
        "rode-taylor": taylor,
    }[scheme]


def separable(scheme: str, H):
    """Make the step of "euler", "averaged-euler" or "averaged-heun"."""

    @scalar(forceinline=True)
    def split(x, single, double, h):
        # Numba needs tuples of known length: G has the length of x, and g follows.
        G1, G2, n = x, x, len(x)
        for i in range(n):
            G1, G2 = (
                replace_component(G1, int64(i), single[i]),
                replace_component(G2, int64(i), double[i]),
            )
        return G1, single[n], G2, double[n]

    @scalar(forceinline=True)
    def euler(x, single, double, p, h):
        G1, g1, _, _ = split(x, single, double, h)
        return axpy(h, axpy(g1, cast(H(x, p), h), G1), x)

    @scalar(forceinline=True)
    def heun(x, single, double, p, h):
        T = type(h)
        G1, g1, G2, g2 = split(x, single, double, h)
        start = cast(H(x, p), h)
        y = axpy(h, axpy(g2, start, G2), x)
        both = add(start, cast(H(y, p), h))
        return axpy(T(0.5) * h, axpy(g1, both, scale(T(2.0), G1)), x)

    return {"euler": euler, "averaged-euler": euler, "averaged-heun": heun}[scheme]
