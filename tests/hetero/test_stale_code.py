"""Compiled code of an older state is never loaded, whatever has been edited, and in whatever way.

Each case is a module before and after an edit. What `go(2.0)` returns is stated for both, so that
no other run of the toolkit is the judge.
"""

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from cache_tree import LOOPS, Tree
from hetero.compile_cache import sources, tables

GO = "from user import go; print(go(2.0))"


def write(path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)


IMPORTS = """
import enum, math, operator
from typing import NamedTuple
import numba, numpy as np
from hetero.jit import scalar, serial
"""

USUAL = "1.5", "3.5", 3.0, 7.0
"""What is replaced, by what, and what go(2.0) returns before and after."""

# name: user.py, or (user.py, what is replaced, by what, go(2.0) before, go(2.0) after)
KEPT = {
    "a constant": "RATE = 1.5\n@serial\ndef go(k):\n    return RATE * k\n",
    "the sign of a zero": (
        "ZERO = 0.0\n@serial\ndef go(k):\n    return math.copysign(k, ZERO)\n",
        *("0.0", "-0.0", 2.0, -2.0),
    ),
    "a default": "@serial\ndef go(k, rate=1.5):\n    return rate * k\n",
    "an element of an array": (
        "RATES = np.array([1.5, 2.0])\n@serial\ndef go(k):\n    return RATES[0] * k\n"
    ),
    "the type of an array": (
        "RATES = np.array([1.5], np.float64)\n@serial\ndef go(k):\n    return RATES[0] * k\n",
        *("1.5], np.float64", "1.5], np.int64", 3.0, 2.0),
    ),
    "a helper": (
        "@scalar\ndef helper(k):\n    return 1.5 * k\n@serial\ndef go(k):\n    return helper(k)\n"
    ),
    "a helper compiled by Numba alone": (
        "@numba.njit\ndef helper(k):\n    return 1.5 * k\n"
        "@serial\ndef go(k):\n    return helper(k)\n"
    ),
    "an alias of a helper": (
        "@scalar\ndef one(k):\n    return 1.5 * k\n@scalar\ndef two(k):\n    return 3.5 * k\n"
        "helper = one\n@serial\ndef go(k):\n    return helper(k)\n",
        *("helper = one", "helper = two", 3.0, 7.0),
    ),
    "a closure": (
        "def make(rate):\n    @serial\n    def go(k):\n        return rate * k\n    return go\n"
        "go = make(1.5)\n"
    ),
    "a function within a function": (
        "@serial\ndef go(k):\n    def inner(x):\n        return 1.5 * x\n    return inner(k)\n"
    ),
    "a member of an enumeration": (
        "class Kind(enum.IntEnum):\n    A = 1\n    B = 2\n"
        "@serial\ndef go(k):\n    return k * Kind.A.value\n",
        *("A = 1", "A = 3", 2.0, 6.0),
    ),
    "an alias in an enumeration": (
        "class Kind(enum.IntEnum):\n    A = 1\n    B = 2\n    MAIN = 1\n"
        "@serial\ndef go(k):\n    return k * Kind.MAIN.value\n",
        *("MAIN = 1", "MAIN = 2", 2.0, 4.0),
    ),
    "a member that hides its value": (
        "class Kind(enum.IntEnum):\n    A = 1\n    __repr__ = lambda self: 'Kind.A'\n"
        "MAIN = Kind.A\n@serial\ndef go(k):\n    return k * MAIN.value\n",
        *("A = 1", "A = 3", 2.0, 6.0),
    ),
    "a named tuple": (
        "class Rates(NamedTuple):\n    a: float\n    b: float\nR = Rates(1.5, 3.5)\n"
        "@serial\ndef go(k):\n    return R.a * k\n",
        *("a: float\n    b: float", "b: float\n    a: float", 3.0, 7.0),
    ),
    "an option": (
        "@serial(fastmath={'nnan', 'contract'})\ndef go(k):\n    return k / 2.0\n",
        *("/ 2.0", "/ 4.0", 1.0, 0.5),
    ),
    "a formula that eval makes in another namespace": (
        "go = serial(eval('lambda k: 1.5 * k', vars(math)))\n"
    ),
    "a formula that exec makes in our namespace": (
        "import hetero.philox.formulas as ours\nspace = dict(vars(ours))\n"
        "exec('def go(k):\\n    return 1.5 * k', space)\ngo = serial(space['go'])\n"
    ),
}

# name: (files, what is replaced in which file, by what, go(2.0) before, go(2.0) after)
OF_MODULES = {
    "a module that two functions refer to": (
        {
            "rates.py": "FIRST = 1.5\nSECOND = 10.0\n",
            "user.py": "import rates\n@scalar\ndef one(k):\n    return rates.FIRST * k\n"
            "@scalar\ndef two(k):\n    return rates.SECOND * k\n"
            "@serial\ndef go(k):\n    return one(k) + two(k)\n",
        },
        *("rates.py", "10.0", "20.0", 23.0, 43.0),
    ),
    "a module of a module": (
        {
            "package/__init__.py": "from package import inner\n",
            "package/inner.py": "RATE = 1.5\n",
            "user.py": "import package\n@serial\ndef go(k):\n    return package.inner.RATE * k\n",
        },
        *("package/inner.py", *USUAL),
    ),
    "a name in a text": (
        {
            "rates.py": "RATE = 1.5\n",
            "user.py": "import rates\nname = 'RATE'\nspace = {'rates': rates, '__name__': 'user'}\n"
            "exec('def go(k):\\n    return rates.RATE * k', space)\ngo = serial(space['go'])\n",
        },
        *("rates.py", *USUAL),
    ),
    "a helper of another module": (
        {
            "rates.py": "from hetero.jit import scalar\n@scalar\ndef f(k):\n    return 1.5 * k\n",
            "user.py": "import rates\n@serial\ndef go(k):\n    return rates.f(k)\n",
        },
        *("rates.py", *USUAL),
    ),
}


def test_edits_are_seen(server, tmp_path):
    """Each case is a module of its own, and one process calls all of them."""
    names = [f"user{k}" for k in range(len(KEPT))]
    calls = ", ".join(f"{name}.go(2.0)" for name in names)
    for _ in range(2):
        for state in (0, 1):
            files, expected = {}, []
            for name, case in zip(names, KEPT.values(), strict=True):
                text, old, new, *values = (case, *USUAL) if isinstance(case, str) else case
                files[f"{name}.py"] = IMPORTS + (text.replace(old, new) if state else text)
                expected.append(str(values[state]))
            write(tmp_path, files)
            found = server.run(f"import {', '.join(names)}; print({calls})", path=tmp_path)
            assert dict(zip(KEPT, found, strict=True)) == dict(zip(KEPT, expected, strict=True))
    assert server.hits >= len(KEPT)  # they are kept, so the test has tested something


@pytest.mark.parametrize("case", OF_MODULES)
def test_an_edit_of_another_module_is_seen(server, tmp_path, case):
    files, name, old, new, before, after = OF_MODULES[case]
    files = files | {"user.py": IMPORTS + files["user.py"]}
    for _ in range(2):
        for value, text in {before: files[name], after: files[name].replace(old, new)}.items():
            write(tmp_path, files | {name: text})
            assert server.run(GO, path=tmp_path) == [str(value)]
    assert server.hits > 0


CAUGHT = """
@serial
def go(k):
    y = 1.0
    try:
        y = 2.0
        if k > 1.0:
            raise ValueError
    except Exception:
        y = 5.0
    return y
"""
LET_THROUGH = """
@serial
def go(k):
    y = 1.0
    try:
        y = 2.0
    except Exception:
        y = 5.0
    else:
        if k > 1.0:
            raise ValueError
    return y
"""


def test_a_statement_that_leaves_a_try_is_seen(server, tmp_path):
    """The instructions are nearly the same; the table of exceptions is not."""
    code = "from user import go\ntry:\n    print(go(2.0))\nexcept ValueError:\n    print('raised')"
    for _ in range(2):
        for text, expected in ((CAUGHT, "5.0"), (LET_THROUGH, "raised")):
            write(tmp_path, {"user.py": IMPORTS + text})
            assert server.run(code, path=tmp_path) == [expected]
    assert server.hits > 0


NOT_KEPT = {
    "vectorize": (
        "@numba.vectorize\ndef helper(k):\n    return 1.5 * k\n"
        "@serial\ndef go(k):\n    return helper(k)\n"
    ),
    "guvectorize": (
        "@numba.guvectorize('(n)->()')\ndef helper(k, out):\n    out[0] = 1.5 * k[0]\n"
        "@serial\ndef go(k):\n    out = np.zeros(1)\n    helper(np.array([[k]]), out)\n"
        "    return out[0]\n"
    ),
    "the method of a compiled class": (
        "@numba.experimental.jitclass([('x', numba.float64)])\nclass Rate:\n"
        "    def __init__(self, x):\n        self.x = x\n"
        "    def times(self):\n        return 1.5 * self.x\n"
        "@serial\ndef go(k):\n    return Rate(k).times()\n"
    ),
    "an overload behind a stub": (
        "from numba.extending import overload\ndef helper(k):\n    pass\n"
        "@overload(helper)\ndef helper_of(k):\n    return lambda k: 1.5 * k\n"
        "@serial\ndef go(k):\n    return helper(k)\n"
    ),
    "an overload of a method": (
        "from numba.extending import overload_method\n"
        "@overload_method(numba.types.Float, 'scaled')\ndef scaled(k):\n"
        "    return lambda k: 1.5 * k\n"
        "@serial\ndef go(k):\n    return k.scaled()\n"
    ),
    "an intrinsic": (
        "from numba.extending import intrinsic\n"
        "@intrinsic\ndef helper(context, k):\n    def code(context, builder, signature, args):\n"
        "        return builder.fmul(args[0], args[0].type(1.5))\n    return k(k), code\n"
        "@serial\ndef go(k):\n    return helper(k)\n"
    ),
    "a helper that Numba's own cache keeps": (
        "import inner\n@serial\ndef go(k):\n    return inner.helper(k)\n"
    ),
    "a module that computes its attributes": (
        "import rates\n@serial\ndef go(k):\n    return rates.RATE * k\n"
    ),
}
BESIDE = {
    "inner.py": "import numba\nRATE = 1.5\n"
    "@numba.njit(cache=True)\ndef helper(k):\n    return RATE * k\n",
    "rates.py": "def __getattr__(name):\n    if name == 'RATE':\n        return 1.5\n"
    "    raise AttributeError(name)\n",
}


@pytest.mark.parametrize("case", NOT_KEPT)
def test_what_cannot_be_read_by_value_is_not_kept(server, tmp_path, case):
    for value, rate in [(3.0, "1.5"), (7.0, "3.5")]:
        files = BESIDE | {"user.py": IMPORTS + NOT_KEPT[case]}
        write(tmp_path, {name: text.replace("1.5", rate) for name, text in files.items()})
        assert server.run(GO, path=tmp_path) == [str(value)]
        assert server.hits == 0


# ---- values that change while a process runs ---------------------------------------------------

RATES = IMPORTS + "RATE = 1.5\n@{}\ndef helper(k):\n    return RATE * k\n"
CHANGED = {
    "a helper that was compiled before": (
        RATES + "@serial\ndef go(k):\n    return helper(k)\n",
        "import user; user.helper(1.0); user.RATE = 3.5; print(user.go(2.0))",
        "3.0",
    ),
    "another type of argument": (
        RATES + "@serial\ndef go(k):\n    return helper(k)\n",
        "import user; user.go(2.0); user.RATE = 3.5; print(user.go(2))",
        "7.0",
    ),
    "another function of the same helper": (
        RATES + "@serial\ndef first(k):\n    return helper(k)\n"
        "@serial\ndef go(k):\n    return helper(k) + 0.0\n",
        "import user; user.first(2.0); user.RATE = 3.5; print(user.go(2.0))",
        "3.0",
    ),
    "an array that was changed": (
        IMPORTS + "RATE = np.array([1.5])\n@{}\ndef helper(k):\n    return RATE[0] * k\n"
        "@serial\ndef go(k):\n    return helper(k)\n",
        "import user; user.helper(2.0); user.RATE[0] = 3.5; print(user.go(2.0))",
        "3.0",
    ),
}


@pytest.mark.parametrize(
    "decorator", ["scalar", pytest.param("numba.njit", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("case", CHANGED)
def test_a_value_that_changes_between_two_compilations_poisons_nothing(
    server, tmp_path, case, decorator
):
    """What the process itself gets is what Numba froze; later processes must not get it."""
    text, code, value = CHANGED[case]
    text = text.format(decorator)
    write(tmp_path, {"user.py": text})
    if "2)" not in code or decorator == "scalar":
        assert server.run(code, path=tmp_path, cached=False) == [value]
    server.run(code, path=tmp_path)
    for argument in ("2.0", "2"):
        for rate, expected in (("3.5", "7.0"), ("1.5", "3.0")):
            write(tmp_path, {"user.py": text.replace("1.5", rate)})
            go = f"import user; print(float(user.go({argument})))"
            assert server.run(go, path=tmp_path) == [expected]


def test_a_value_that_changes_during_a_compilation_poisons_nothing(server, tmp_path):
    """A type inference that runs the user's code is the worst case of a second thread."""
    text = IMPORTS + "RATE = 1.5\n@serial\ndef go(k):\n    return RATE * k\n"
    write(tmp_path, {"user.py": text})
    change = (
        "import user\nfrom hetero.compile_cache import frozen\n"
        "import numba.core.compiler as c\ncompile_ir = c.CompilerBase._compile_core\n"
        "def slow(self):\n    result = compile_ir(self)\n    user.RATE = 3.5\n    return result\n"
        "c.CompilerBase._compile_core = slow\nprint(user.go(2.0))"
    )
    assert server.run(change, path=tmp_path) == ["3.0"]
    write(tmp_path, {"user.py": text.replace("1.5", "3.5")})
    assert server.run(GO, path=tmp_path) == ["7.0"]


def test_closures_of_forked_processes_have_symbols_of_their_own(server, tmp_path):
    """Forked children would count on from the same number, and their code may meet in a process."""
    text = (
        IMPORTS + "def make(rate):\n    @scalar\n    def helper(k):\n        return rate * k\n"
        "    @serial\n    def go(k):\n        return helper(k)\n    return go\n"
    )
    write(tmp_path, {"user.py": text})
    for rate in (1.5, 3.5):
        code = f"import user; print(user.make({rate})(2.0))"
        assert server.run(code, path=tmp_path) == [str(2.0 * rate)]
    both = "import user; a, b = user.make(1.5), user.make(3.5); print(a(2.0), b(2.0), a(2.0))"
    assert server.run(both, path=tmp_path) == ["3.0", "7.0", "3.0"]
    assert server.hits == 2


# ---- sources of registered packages ------------------------------------------------------------

PLAIN = "from toy.loops import plain; print(plain(3.0))"
EXTENSION = """
from numba.extending import intrinsic
from hetero.jit import scalar

FACTOR = 2.0

@intrinsic
def times(context, x):
    def code(context, builder, signature, args):
        return builder.fmul(args[0], args[0].type(FACTOR))
    return x(x), code

@scalar
def twice(x):
    return times(x)
"""
# Python runs `code` while Numba compiles: the value of FACTOR is in no function that is compiled.
EDITED = EXTENSION.replace("2.0", "5.0")


@pytest.fixture
def tree(tmp_path, server) -> Tree:
    tree = Tree(tmp_path, server)
    tree.write("toy/helper.py", EXTENSION)
    return tree


def test_sources_edited_while_a_process_runs_poison_nothing(tree):
    """Neither the code of the old sources, nor that of modules which were imported afterwards."""
    edit = "import pathlib; pathlib.Path('toy/helper.py').write_text({!r}); "
    before = "import toy.helper; " + edit.format(EDITED) + PLAIN
    assert tree.run(before) == ["7.0"]
    assert tree.run(PLAIN) == ["16.0"]
    tree.write("toy/helper.py", EXTENSION)
    lazily = "import toy; " + edit.format(EDITED) + PLAIN
    assert tree.run(lazily) == ["16.0"]
    tree.write("toy/helper.py", EXTENSION)
    assert tree.run(PLAIN) == ["7.0"]


def test_bytecode_that_python_takes_for_current_poisons_nothing(tree):
    """Python does not see an edit within a second that leaves the size: then nothing is kept."""
    second = int(time.time())
    path = tree.path / "toy" / "helper.py"
    os.utime(path, (second, second))
    assert tree.run(PLAIN, bytecode=True) == ["7.0"]
    path.write_text(EDITED)
    os.utime(path, ns=(second * 10**9 + 900_000_000,) * 2)
    bytecode = next(path.parent.glob("__pycache__/helper.*.pyc"))
    os.utime(bytecode, ns=(second * 10**9 + 500_000_000,) * 2)
    shutil.rmtree(tree.cache)
    assert tree.run(PLAIN, bytecode=True) == ["7.0"]  # Python itself has loaded the old bytecode
    shutil.rmtree(bytecode.parent)
    assert tree.run(PLAIN) == ["16.0"]


def test_a_package_that_is_registered_twice_keeps_its_first_record(tmp_path):
    (tmp_path / "a.py").write_text("1")
    sources.register("some", str(tmp_path))
    module = [("some.a", str(tmp_path / "a.py"))]
    sources.require_unchanged(module)
    (tmp_path / "a.py").write_text("2")
    sources.register("some", str(tmp_path))
    with pytest.raises(sources.SourcesChangedError, match=r"a\.py has changed"):
        sources.require_unchanged(module)


def test_options_are_told_apart_without_the_order_of_sets(tree):
    loops = LOOPS.replace("@serial\n", "@serial(fastmath={'nsz', 'contract', 'arcp'})\n", 1)
    tree.write("toy/loops.py", loops)
    count = "; from hetero.compile_cache.disk_cache import DiskCache as C; print(C.misses)"
    misses = [tree.run_fresh(PLAIN + count, PYTHONHASHSEED=str(seed))[1] for seed in range(2)]
    assert misses == ["2", "0"]


def test_a_table_is_computed_again_with_another_scipy(tmp_path, monkeypatch):
    monkeypatch.setenv("HETERO_CACHE_DIR", str(tmp_path))
    for version in ("1.0", "2.0", "1.0"):
        monkeypatch.setattr("importlib.metadata.version", lambda name, v=version: v)
        value = tables.cached_table("hetero", "t", lambda v=version: np.array([float(v)]))
        assert value == [float(version)]
