"""Good calls of `tmd`."""

import functools
import json
import tempfile
from fractions import Fraction
from pathlib import Path

import tmd
from faults.judge import Later, good

DOMAIN = (1.0, 1.0 + 2.0**-30)


@functools.cache
def _result():
    return tmd.search("exp", DOMAIN, bits=16, device="cpu")


def _certificate():
    import copy

    return copy.deepcopy(_result().certificate)


@functools.cache
def _written_certificate():
    path = Path(tempfile.mkdtemp()) / "certificates"
    path.write_text(json.dumps(_certificate()) + "\n")
    return path


CALLS = [
    good("tmd.search", name="exp", domain=DOMAIN, bits=16, precision=53, argument_precision=53,
         rounding="all", algorithm="auto", division="reciprocal", executor=None, checkpoint=None,
         device="cpu", known_as={"name": ("function",)}, takes_long=True),
    good("tmd.search from lo", lambda lo: tmd.search("exp", (lo, DOMAIN[1]), bits=16, device="cpu"),
         lo=1.0, known_as={"lo": ("domain", "bits", "arguments")}, takes_long=True),
    good("tmd.search to hi", lambda hi: tmd.search("exp", (1.0, hi), bits=16, device="cpu"),
         hi=DOMAIN[1], known_as={"hi": ("domain", "bits", "arguments")}, takes_long=True),
    good("tmd.search_periodic", name="sin", exponent=100, phases=(0.25, 0.25 + 2.0**-40), bits=16,
         precision=53, rounding="all", device="cpu", takes_long=True),
    good("tmd.search_periodic from lo",
         lambda lo: tmd.search_periodic("sin", 100, phases=(lo, 0.25 + 2.0**-40), bits=16,
                                        device="cpu"),
         lo=0.25, known_as={"lo": ("phases", "many")}, takes_long=True),
    good("tmd.Format.create", precision=53, argument_precision=53),
    *(good(f"tmd.Format.{name}", getattr(tmd.Format.create(53), name), exponent=0)
      for name in ("quantum", "ulp")),
    good("tmd.Result.write", path=Path(tempfile.gettempdir()) / "faults-of-heterokit.wc",
         owner=_result),
    good("tmd.PeriodicResult.write", path=Path(tempfile.gettempdir()) / "faults-of-heterokit.wc",
         owner=lambda: tmd.search_periodic("sin", 100, phases=(0.25, 0.25 + 2.0**-40),
                                           device="cpu")),
    good("tmd.Result.plot", owner=_result, ax=None, takes_long=True),
    good("tmd.check_libraries", name="exp", arguments=[1.0], libraries=(), symbol=None,
         precision=53, known_as={"name": ("function",), "libraries": ("library",)},
         nonsense={"arguments": ("set",)}, takes_long=True),
    good("tmd.check_libraries at an argument",
         lambda argument: tmd.check_libraries("exp", [argument]), argument=1.0,
         known_as={"argument": ("arguments",)}, takes_long=True),
    good("tmd.verify", certificate=Later(_certificate), cases=None, full=False, samples=1, rng=1,
         device="cpu", untold=("full",), known_as={"cases": ("case", "list", "line")},
         takes_long=True),
    good("tmd.verify of listed cases",
         lambda case: tmd.verify(_certificate(), cases=[case, *_result().cases[1:]], samples=0,
                                 device="cpu"), case=Later(lambda: _result().cases[0]),
         known_as={"case": ("cases", "list", "listed")}, takes_long=True),
    *(good(f"tmd.verify of a certificate with another {key}",
           lambda value, key=key: tmd.verify(_changed(key, value), samples=1, device="cpu"),
           value=Later(lambda key=key: _result().certificate[key]),
           known_as={"value": ("certificate",)}, takes_long=True)
      for key in ("function", "domain", "bits", "precision", "argument_precision", "rounding",
                  "trivial", "cases", "versions", "columns", "blocks", "kind", "version", "hash")),
    good("tmd.verify_cases", certificates=Later(lambda: [_certificate()]),
         cases=Later(lambda: list(_result().cases)),
         known_as={"certificates": ("certificate",), "cases": ("case", "list", "line")},
         takes_long=True),
    good("tmd.read_certificates", path=Later(_written_certificate),
         known_as={"path": ("certificates",)}),
    good("tmd.Case", function="exp", format=tmd.Format.create(53), exact_argument=Fraction(1),
         kind="F",
         nonsense=dict.fromkeys(("function", "format", "exact_argument", "kind"), ("all",))),
]  # fmt: skip


def _changed(key, value):
    """Return the certificate with another value, and the hash that goes with it."""
    from tmd._search.cases import hash_json

    body = _certificate() | {key: value}
    if key != "hash":
        body.pop("hash")
        try:
            body["hash"] = hash_json(body)
        except (TypeError, ValueError):
            body["hash"] = "0" * 32
    return body


_METHODS = ("coefficients", "enclosure", "evaluate", "is_defined_between", "points", "renamed")
NOT_CALLED = {
    *("CertificateError", "CheckpointError", "ExhaustiveScore", "Format", "LibraryScore", "Result"),
    *("Function", "exhaust", "register", *(f"Function.{name}" for name in _METHODS)),
}
"""Results, errors, and what tests/tmd tries with mistakes of its own: `exhaust`, of which odd
domains are valid and take minutes, and functions of users."""
