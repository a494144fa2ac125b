"""Random modules that are edited at random, and what a process does with them.

Everything that Numba may freeze occurs: constants, arrays, enumerations with aliases, named tuples,
defaults, closures, aliases of functions, helpers compiled by Numba alone, attributes of modules,
functions made by `eval`, and values that are changed while the process runs. All numbers are small
multiples of 1/8, so that results are exact and can be compared bit for bit.
"""

import random
from dataclasses import dataclass, field, replace
from typing import Any

MODULES = ("first", "second", "third")

HEAD = """
import enum, math, sys
from typing import NamedTuple
import numba, numpy as np
from hetero.jit import scalar, serial
"""

KINDS = ("number", "integer", "array", "tuple", "enumeration", "named", "scalar32")
DECORATORS = ("scalar", "scalar(fastmath={'contract', 'nsz'})", "numba.njit", "serial", "plain")
READINGS = ("own", "module", "getattr", "default", "closure", "imported", "inner", "eval")


@dataclass(frozen=True)
class Constant:
    """A constant of a module: `kind` says how its value is kept."""

    name: str
    kind: str
    value: int

    def text(self) -> str:
        """Return the statements that define it."""
        v = self.value / 8
        return {
            "number": f"{self.name} = {v}",
            "integer": f"{self.name} = {self.value}",
            "array": f"{self.name} = np.array([{v}, 1.0])",
            "tuple": f"{self.name} = ({v}, 1.0)",
            "enumeration": f"class {self.name}(enum.IntEnum):\n    A = 1\n    B = 2\n"
            f"    C = {self.value}\n    __repr__ = lambda self: 'hidden'",
            "named": f"class {self.name}_(NamedTuple):\n    x: float\n    y: float\n"
            f"{self.name} = {self.name}_({v}, 1.0)",
            "scalar32": f"{self.name} = np.float32({v})",
        }[self.kind]

    def read(self, source: str) -> str:
        """Return an expression for its value, where `source` is an expression for the constant."""
        parts = {"array": "[0]", "tuple": "[0]", "enumeration": ".C.value", "named": ".x"}
        return f"({source}{parts.get(self.kind, '')})"


@dataclass(frozen=True)
class Helper:
    """A function k -> k * factor + (a constant) + (another helper), in a module."""

    name: str
    module: str
    decorator: str
    reading: str
    constant: Constant
    home: str  # the module of the constant
    factor: int
    callee: "Helper | None"
    is_moved: bool  # whether a statement is in `else` rather than in `try`

    def text(self) -> str:
        """Return the statements that define it."""
        source = f"{self.home}.{self.constant.name}"
        reading, setup, parameters = self.reading, [], "k"
        if self.home == self.module and reading in ("module", "getattr", "imported", "eval"):
            reading = "own"
        if reading == "getattr" and self.constant.kind == "enumeration":
            reading = "module"  # Numba cannot compile the other
        if reading == "own":
            source = self.constant.name if self.home == self.module else source
        elif reading == "getattr" and self.constant.kind != "enumeration":  # which Numba cannot do
            source = f"getattr({self.home}, '{self.constant.name}')"
        elif reading == "imported":
            setup.append(f"from {self.home} import {self.constant.name} as {self.name}_c")
            source = f"{self.name}_c"
        if self.home == self.module and reading in ("default", "closure", "inner"):
            source = self.constant.name
        value = self.constant.read(source)
        if reading in ("default", "closure"):
            setup.append(f"{self.name}_v = {value}")
        call = ""
        if self.callee is not None:
            own = self.callee.module == self.module
            call = " + " + ("" if own else f"{self.callee.module}.") + f"{self.callee.name}(k)"
        if reading == "default":
            parameters, value = f"k, v={self.name}_v", "v"
        elif reading == "closure":
            value = "v"
        result = f"k * {self.factor / 8} + {value}{call}"
        body = self._body(reading, parameters, value, result)
        return "\n".join([*setup, *body])

    def _body(self, reading: str, parameters: str, value: str, result: str) -> list[str]:
        decorate = f"@{self.decorator}" if self.decorator != "plain" else "@serial"
        if reading == "eval":
            made = f"eval('lambda {parameters}: {result}', dict(globals(), __name__='math'))"
            return [f"{self.name} = {decorate[1:]}({made.replace(chr(10), ' ')})"]
        lines = [f"def {self.name}({parameters}):"]
        if reading == "inner":
            lines += ["    def inner(x):", f"        return x + {value}"]
            result = result.replace(value, "inner(0.0)")
        if self.is_moved:
            lines += ["    y = 0.125", "    try:", "        y = 0.25", "    except Exception:"]
            lines += ["        y = 0.5", f"    return {result} + y"]
        else:
            lines += [f"    return {result}"]
        if reading != "closure":
            return [decorate, *lines]
        indented = ["    " + line for line in [decorate, *lines]]
        return [
            f"def make_{self.name}(v):", *indented, f"    return {self.name}",
            f"{self.name} = make_{self.name}({self.name}_v)",
        ]  # fmt: skip


@dataclass(frozen=True)
class World:
    """Three modules, the last of which has a function `go`."""

    constants: dict[str, Constant] = field(default_factory=dict)  # by module
    helpers: tuple[Helper, ...] = ()
    alias: int = 0  # number of the helper that `go` calls by another name

    def files(self) -> dict[str, str]:
        """Return the text of each module."""
        texts = {}
        for number, module in enumerate(MODULES):
            lines = [HEAD, *(f"import {other}" for other in MODULES[:number])]
            lines.append(self.constants[module].text())
            lines += [helper.text() for helper in self.helpers if helper.module == module]
            texts[f"{module}.py"] = "\n".join(lines) + "\n"
        chosen = self.helpers[self.alias]
        own = chosen.name if chosen.module == MODULES[-1] else f"{chosen.module}.{chosen.name}"
        last = self.helpers[-1].name
        go = f"chosen = {own}\n@serial\ndef go(k):\n    return chosen(k) + {last}(k)\n"
        texts[f"{MODULES[-1]}.py"] += go
        return texts


def make_world(rng: random.Random) -> World:
    """Return random modules."""
    constants = {
        m: Constant(f"{m.upper()}", rng.choice(KINDS), rng.randint(1, 40)) for m in MODULES
    }
    helpers: list[Helper] = []
    for number, module in enumerate(MODULES):
        callee = rng.choice([None, *helpers])
        home = rng.choice(MODULES[: number + 1])
        helpers.append(
            Helper(
                f"f{number}", module, rng.choice(DECORATORS), rng.choice(READINGS), constants[home],
                home, rng.randint(1, 40), callee, rng.random() < 0.3,
            )
        )  # fmt: skip
    return World(constants, tuple(helpers), rng.randrange(len(helpers)))


def edit(world: World, rng: random.Random) -> World:
    """Return the modules after one edit."""
    kind = rng.choice(("value", "value", "kind", "factor", "reading", "decorator", "move", "alias"))
    if kind == "alias":
        return replace(world, alias=rng.randrange(len(world.helpers)))
    if kind in ("value", "kind"):
        module = rng.choice(MODULES)
        old = world.constants[module]
        new = (
            replace(old, value=rng.randint(1, 40))
            if kind == "value"
            else replace(old, kind=rng.choice(KINDS))
        )
        return _rebuilt(world, world.constants | {module: new}, {})
    number = rng.randrange(len(world.helpers))
    kinds: dict[str, dict[str, Any]] = {
        "factor": {"factor": rng.randint(1, 40)},
        "reading": {"reading": rng.choice(READINGS)},
        "decorator": {"decorator": rng.choice(DECORATORS)},
        "move": {"is_moved": not world.helpers[number].is_moved},
    }
    return _rebuilt(world, world.constants, {number: kinds[kind]})


def _rebuilt(world: World, constants: dict, changes: dict[int, dict]) -> World:
    """Return a world whose helpers refer to these constants and to each other."""
    helpers: list[Helper] = []
    for number, old in enumerate(world.helpers):
        callee = None if old.callee is None else helpers[int(old.callee.name[1:])]
        new = replace(old, constant=constants[old.home], callee=callee, **changes.get(number, {}))
        helpers.append(new)
    return World(constants, tuple(helpers), world.alias)


IMPORT = "import first, second, third"
GO = f"{IMPORT}\nprint(float(third.go(2.0)), float(third.go(2)))"
"""What a process does that changes nothing."""


def make_calls(world: World, rng: random.Random) -> str:
    """Return what a process does with the modules: it calls functions and prints results."""
    lines = [IMPORT]
    for _ in range(rng.choice((0, 0, 1, 2))):
        helper = rng.choice(world.helpers)
        calls = (f"{helper.module}.{helper.name}", "third.go")
        lines.append(f"{rng.choice(calls)}({rng.choice(('2.0', '2'))})")
    results = ["third.go(2.0)", "third.go(2)"][: rng.choice((1, 1, 2))]
    return "\n".join([*lines, f"print({', '.join(f'float({r})' for r in results)})"])


def make_changes(world: World, rng: random.Random) -> tuple[str, World]:
    """Return what a process does that changes a value between two calls, and the changed modules.

    What it prints depends on which functions it compiles itself before the change, because Numba
    freezes values when it compiles.
    """
    helper = rng.choice(world.helpers)
    before = rng.choice((f"{helper.module}.{helper.name}", "third.go"))
    if rng.random() < 0.3:
        changed = replace(world, alias=rng.randrange(len(world.helpers)))
        chosen = changed.helpers[changed.alias]
        change = f"third.chosen = {chosen.module}.{chosen.name}"
    else:
        module = rng.choice(MODULES)
        new = replace(world.constants[module], value=rng.randint(1, 40))
        changed = _rebuilt(world, world.constants | {module: new}, {})
        text = new.text().replace("np.", "first.np.").replace("enum.", "first.enum.")
        text = text.replace("(NamedTuple)", "(first.NamedTuple)")
        change = f"{text}\n{module}.{new.name} = {new.name}"
    call = f"{before}({rng.choice(('2.0', '2'))})"
    return "\n".join([IMPORT, call, change, "third.go(2.0)", "third.go(2)"]), changed
