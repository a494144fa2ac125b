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
from dataclasses import dataclass, replace
from pathlib import Path

from edit_campaign import StaleCodeError, write_modules
from fork_server import ForkServer

HOSTS, FACTORS, INTRINSICS, FORMULAS = 8, 2, 2, 5

NEEDLESS_IMPORTS = 0.68
"""Host modules that a file imports on average; as many as the 25 files of the packages that extend
Numba. An edit of such a module compiles again what depends on the file."""

FILES = {"host": HOSTS, "factor": FACTORS, "intrinsic": INTRINSICS, "formula": FORMULAS}
"""How many files of each kind there are: host0, host1, ..."""

KINDS = ("comment", "docstring", *FILES, "constant", "plan")
"""What an edit changes; constants and plans are in the files of formulas."""

TEXTS = {
    "host": "def pages(n):\n    return n + {host}\n",
    "factor": "FACTOR = {factor} / 8\n\ndef emitted(number):\n    return number + 0.5\n",
    "intrinsic": """
from llvmlite import ir
from numba import float64
from numba.extending import intrinsic
from toy.factor{user} import FACTOR, emitted

@intrinsic
def scaled(typing, x):
    def emit(context, builder, signature, arguments):
        factor = emitted(FACTOR) + {intrinsic} / 8
        return builder.fmul(arguments[0], ir.Constant(ir.DoubleType(), factor))

    return float64(float64), emit
""",
    "formula": """
from hetero.jit import scalar

CONSTANT = {constant} / 8

@scalar
def value(x):
    \"\"\"Return the value, version {docstring}.\"\"\"
    return x * CONSTANT + {formula} / 8{terms}

def plan(n):
    return n + {plan}
""",
}
"""Texts of the files, with their numbers in braces."""

REGISTER = "from hetero.compile_cache.sources import register\nregister(__name__, __path__[0])\n"


@dataclass(frozen=True)
class Package:
    """The numbers in the files of a package, and who uses whom."""

    numbers: dict[tuple[str, str], int]  # by kind and file: numbers["constant", "formula2"]
    calls: tuple[tuple[int, ...], ...]  # numbers of the formulas that each one calls, all smaller
    intrinsics: tuple[int | None, ...]  # of the intrinsic that each formula calls
    imports: dict[str, tuple[str, ...]]  # host modules that each file imports without need

    def files(self) -> dict[str, str]:
        """Return the text of every file by its name."""
        return {"toy/__init__.py": REGISTER} | {
            f"toy/{kind}{k}.py": self._text(kind, k)
            for kind, count in FILES.items()
            for k in range(count)
        }

    def _text(self, kind: str, k: int) -> str:
        name, terms = f"{kind}{k}", ""
        numbers = {of: number for (of, file), number in self.numbers.items() if file == name}
        head = f'"""Version {numbers["docstring"]}."""\n# comment {numbers["comment"]}\n'
        head += "".join(f"from toy import {host}\n" for host in self.imports[name])
        if kind == "formula":
            for callee in self.calls[k]:
                head += f"from toy.formula{callee} import value as value{callee}\n"
                terms += f" + value{callee}(x)"
            if (i := self.intrinsics[k]) is not None:
                head += f"from toy.intrinsic{i} import scaled\n"
                terms += " + scaled(x)"
        return head + TEXTS[kind].format(**numbers, terms=terms, user=k % FACTORS)

    def changed_by(self, kind: str, file: str) -> set[int]:
        """Return the numbers of the formulas whose code an edit changes."""
        k = int(file[-1])
        if kind in ("factor", "intrinsic"):
            by = {i for i in range(INTRINSICS) if (i % FACTORS if kind == "factor" else i) == k}
            found = {f for f, i in enumerate(self.intrinsics) if i in by}
        else:
            found = {k} if kind in ("formula", "constant") else set()
        for f, callees in enumerate(self.calls):  # callees come before their callers
            if found & set(callees):
                found.add(f)
        return found


CODE = (
    f"from toy import {', '.join(f'formula{k}' for k in range(FORMULAS))}\n"
    "from hetero.compile_cache.disk_cache import DiskCache\n"
    f"print({', '.join(f'formula{k}.value(3.0)' for k in range(FORMULAS))}, DiskCache.misses)"
)


def make_package(rng: random.Random) -> Package:
    """Make a random package."""
    files = [f"{kind}{k}" for kind, count in FILES.items() for k in range(count)]
    hosts = [f"host{k}" for k in range(HOSTS)]
    pairs = [(of, file) for file in files for of in ("comment", "docstring", file[:-1])]
    pairs += [(of, f"formula{k}") for of in ("constant", "plan") for k in range(FORMULAS)]
    return Package(
        {pair: rng.randint(-50, 50) for pair in pairs},
        tuple(tuple(j for j in range(k) if rng.random() < 0.4) for k in range(FORMULAS)),
        tuple(rng.choice([None, *range(INTRINSICS)]) for _ in range(FORMULAS)),
        {
            name: tuple(h for h in hosts if h != name and rng.random() * HOSTS < NEEDLESS_IMPORTS)
            for name in files
        },
    )


def edit(package: Package, rng: random.Random) -> tuple[Package, str, set[int]]:
    """Return a package after an edit, the kind of the edit, and the formulas that it changes."""
    kind = rng.choice(KINDS)
    pair = rng.choice([pair for pair in package.numbers if pair[0] == kind])
    numbers = package.numbers | {pair: package.numbers[pair] + rng.choice([-3, -1, 1, 2])}
    return replace(package, numbers=numbers), kind, package.changed_by(*pair)


def run_package_campaign(
    server: ForkServer, folder: Path, edits: int, seed: int, until: float = math.inf
) -> Counter:
    """Edit a package at random; raise StaleCodeError if a process loads code of another state.

    No edit begins after the time `until` (of `time.monotonic`).

    Returns how many edits there were; functions that were compiled ("compiled"), and of these, how
    many would have compiled to the code that was on disk ("needless"); and functions that the edits
    left as they were, and that could have been compiled needlessly ("unchanged").
    """
    rng, counts = random.Random(seed), Counter(edits=0, compiled=0, needless=0, unchanged=0)
    (folder / "toy").mkdir(exist_ok=True)
    package = make_package(rng)
    write_modules(folder, package.files())
    server.run(CODE, path=folder)
    for number in range(edits):
        if time.monotonic() > until:
            break
        package, kind, changed = edit(package, rng)
        write_modules(folder, package.files())
        *expected, _ = server.run(CODE, path=folder, cached=False)
        *found, misses = server.run(CODE, path=folder)
        if found != expected:
            raise StaleCodeError(f"seed {seed}, edit {number} ({kind}): {found}, not {expected}")
        needless = max(0, int(misses) - len(changed))
        counts.update(edits=1, compiled=int(misses), needless=needless)
        counts.update(unchanged=FORMULAS - len(changed), **{f"needless after {kind}": needless})
    return counts
