"""Random edits of a package with intrinsics: nothing stale is loaded, and little is compiled again.

The package has host code, formulas that call each other, intrinsics, and files that Python runs
while Numba compiles the intrinsics. An edit changes a comment, a docstring, host code, a formula, a
constant, an intrinsic, or what an intrinsic imports. Numbers are multiples of 1/8, so that results
are exact. For each edit it is known which functions compile to other code.
"""

import math
import random
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from edit_campaign import StaleCodeError, write_modules
from fork_server import ForkServer

HOSTS, FACTORS, INTRINSICS, FORMULAS = 3, 2, 2, 5

REGISTER = "from hetero.compile_cache.sources import register\nregister(__name__, __path__[0])\n"


@dataclass(frozen=True)
class Package:
    """The numbers in the files of a package, and who uses whom.

    Attributes
    ----------
    numbers : of each entity, by its name, such as "host1", "factor0", "intrinsic1", "constant2"
    comments, docstrings : of each file, by its name
    calls : numbers of the formulas that each formula calls, all of them smaller
    intrinsics : number of the intrinsic that each formula calls, or None
    imports : names of the host modules that each file imports without need
    """

    numbers: dict[str, int]
    comments: dict[str, int]
    docstrings: dict[str, int]
    calls: tuple[tuple[int, ...], ...]
    intrinsics: tuple[int | None, ...]
    imports: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def files(self) -> dict[str, str]:
        """Return the text of every file by its name."""
        texts = {name: text(self, k) for kind, text in _TEXTS.items()
                 for k in range(_COUNTS[kind]) for name in [f"{kind}{k}"]}  # fmt: skip
        return {"toy/__init__.py": REGISTER} | {
            f"toy/{name}.py": f'"""Version {self.docstrings[name]}."""\n'
            f"# comment {self.comments[name]}\n"
            + "".join(f"from toy import {host}\n" for host in self.imports[name])
            + text
            for name, text in texts.items()
        }

    def changed_by(self, entity: str) -> set[int]:
        """Return the numbers of the formulas whose code depends on an entity."""
        kind, k = entity.rstrip("0123456789"), int(entity.lstrip("abcdefghijklmnopqrstuvwxyz"))
        if kind == "host":
            return set()
        if kind == "factor":
            users = {i for i in range(INTRINSICS) if i % FACTORS == k}
            found = {f for f, i in enumerate(self.intrinsics) if i in users}
        elif kind == "intrinsic":
            found = {f for f, i in enumerate(self.intrinsics) if i == k}
        else:
            found = {k}
        for f, callees in enumerate(self.calls):  # callees come before their callers
            if found & set(callees):
                found.add(f)
        return found


def _host(package: Package, k: int) -> str:
    return f"def pages(n):\n    return n + {package.numbers[f'host{k}']}\n"


def _factor(package: Package, k: int) -> str:
    return (
        f"FACTOR = {package.numbers[f'factor{k}'] / 8}\n\n"
        "def emitted(number):\n    return number + 0.5\n\n"
    )


def _intrinsic(package: Package, k: int) -> str:
    return f"""
from llvmlite import ir
from numba import float64
from numba.extending import intrinsic
from toy.factor{k % FACTORS} import FACTOR, emitted

@intrinsic
def scaled(typing, x):
    def emit(context, builder, signature, arguments):
        factor = emitted(FACTOR) + {package.numbers[f"intrinsic{k}"] / 8}
        return builder.fmul(arguments[0], ir.Constant(ir.DoubleType(), factor))

    return float64(float64), emit
"""


def _formula(package: Package, k: int) -> str:
    head = "from hetero.jit import scalar\n"
    terms = [f"x * CONSTANT + {package.numbers[f'formula{k}'] / 8}"]
    for callee in package.calls[k]:
        head += f"from toy.formula{callee} import value as value{callee}\n"
        terms.append(f"value{callee}(x)")
    if (i := package.intrinsics[k]) is not None:
        head += f"from toy.intrinsic{i} import scaled\n"
        terms.append("scaled(x)")
    return f"""{head}
CONSTANT = {package.numbers[f"constant{k}"] / 8}

@scalar
def value(x):
    \"\"\"Return the value, version {package.docstrings[f"formula{k}"]}.\"\"\"
    return {" + ".join(terms)}

def plan(n):
    return n + {package.numbers[f"plan{k}"]}
"""


_TEXTS = {"host": _host, "factor": _factor, "intrinsic": _intrinsic, "formula": _formula}
_COUNTS = {"host": HOSTS, "factor": FACTORS, "intrinsic": INTRINSICS, "formula": FORMULAS}

CODE = (
    f"from toy import {', '.join(f'formula{k}' for k in range(FORMULAS))}\n"
    "from hetero.compile_cache.disk_cache import DiskCache\n"
    f"print({', '.join(f'formula{k}.value(3.0)' for k in range(FORMULAS))}, DiskCache.misses)"
)


def make_package(rng: random.Random) -> Package:
    """Make a random package."""
    files = [f"{kind}{k}" for kind, count in _COUNTS.items() for k in range(count)]
    entities = files + [f"{kind}{k}" for kind in ("constant", "plan") for k in range(FORMULAS)]
    hosts = [f"host{k}" for k in range(HOSTS)]
    return Package(
        {name: rng.randint(-50, 50) for name in entities},
        dict.fromkeys(files, 0),
        dict.fromkeys(files, 0),
        tuple(tuple(j for j in range(k) if rng.random() < 0.4) for k in range(FORMULAS)),
        tuple(rng.choice([None, *range(INTRINSICS)]) for _ in range(FORMULAS)),
        {name: tuple(h for h in hosts if h != name and rng.random() < 0.2) for name in files},
    )


def edit(package: Package, rng: random.Random) -> tuple[Package, str, set[int]]:
    """Return a package after an edit, the kind of the edit, and the formulas that it changes."""
    kind = rng.choice(["comments", "docstrings", "host", "plan", "factor", "intrinsic", "formula",
                       "constant"])  # fmt: skip
    if kind in ("comments", "docstrings"):
        texts = dict(getattr(package, kind))
        texts[rng.choice(list(texts))] += 1
        return replace(package, **{kind: texts}), kind, set()
    names = [name for name in package.numbers if name.rstrip("0123456789") == kind]
    name = rng.choice(names)
    numbers = package.numbers | {name: package.numbers[name] + rng.choice([-3, -1, 1, 2])}
    changed = set() if kind == "plan" else package.changed_by(name)
    return replace(package, numbers=numbers), kind, changed


def run_package_campaign(
    server: ForkServer, folder: Path, edits: int, seed: int, until: float = math.inf
) -> Counter:
    """Edit a package at random; raise StaleCodeError if a process loads code of another state.

    No edit begins after the time `until` (of `time.monotonic`).

    Returns
    -------
    Counter
        edits; functions that were compiled ("compiled"), and of these, how many would have compiled
        to the code that was on disk ("needless"); and functions that the edits left as they were,
        and that could have been compiled needlessly ("unchanged")
    """
    rng, counts = random.Random(seed), Counter(edits=0, compiled=0, needless=0, unchanged=0)
    (folder / "toy").mkdir(exist_ok=True)
    package = make_package(rng)
    write_modules(folder, package)
    server.run(CODE, path=folder)
    for number in range(edits):
        if time.monotonic() > until:
            break
        package, kind, changed = edit(package, rng)
        write_modules(folder, package)
        *expected, _ = server.run(CODE, path=folder, cached=False)
        *found, misses = server.run(CODE, path=folder)
        if found != expected:
            raise StaleCodeError(f"seed {seed}, edit {number} ({kind}): {found}, not {expected}")
        needless = max(0, int(misses) - len(changed))
        counts.update(edits=1, compiled=int(misses), needless=needless)
        counts.update(unchanged=FORMULAS - len(changed), **{f"needless after {kind}": needless})
    return counts
