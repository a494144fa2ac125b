"""All functions of tmd in balls, written without its code: for numbers and for power series."""

from flint import arb


def root(x):
    """Return the cube root by logarithms."""
    return -root(-x) if x < 0 else (x.log() / 3).exp()


VALUES = {
    "exp": lambda x: x.exp(),
    "exp2": lambda x: (x * arb(2).log()).exp(),
    "exp10": lambda x: (x * arb(10).log()).exp(),
    "expm1": lambda x: x.exp() - 1,
    "exp2m1": lambda x: (x * arb(2).log()).exp() - 1,
    "exp10m1": lambda x: (x * arb(10).log()).exp() - 1,
    "log": lambda x: x.log(),
    "log2": lambda x: x.log() / arb(2).log(),
    "log10": lambda x: x.log() / arb(10).log(),
    "log1p": lambda x: (1 + x).log(),
    "log2p1": lambda x: (1 + x).log() / arb(2).log(),
    "log10p1": lambda x: (1 + x).log() / arb(10).log(),
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "tan": lambda x: x.sin() / x.cos(),
    "asin": lambda x: x.asin(),
    "acos": lambda x: arb.pi() / 2 - x.asin(),
    "atan": lambda x: x.atan(),
    "sinpi": lambda x: (x * arb.pi()).sin(),
    "cospi": lambda x: (x * arb.pi()).cos(),
    "tanpi": lambda x: (x * arb.pi()).sin() / (x * arb.pi()).cos(),
    "asinpi": lambda x: x.asin() / arb.pi(),
    "acospi": lambda x: arb(0.5) - x.asin() / arb.pi(),
    "atanpi": lambda x: x.atan() / arb.pi(),
    "sinh": lambda x: (x.exp() - (-x).exp()) / 2,
    "cosh": lambda x: (x.exp() + (-x).exp()) / 2,
    "tanh": lambda x: 1 - 2 / ((2 * x).exp() + 1),
    "asinh": lambda x: (x + (x * x + 1).sqrt()).log() if x > 0 else -VALUES["asinh"](-x),
    "acosh": lambda x: (x + (x * x - 1).sqrt()).log(),
    "atanh": lambda x: ((1 + x) / (1 - x)).log() / 2,
    "cbrt": root,
    "rsqrt": lambda x: 1 / x.sqrt(),
    "erf": lambda x: x.erf(),
    "erfc": lambda x: 1 - x.erf(),
    "tgamma": lambda x: x.gamma(),
    "lgamma": lambda x: abs(x.gamma()).log(),
}
