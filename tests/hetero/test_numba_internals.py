"""Names of Numba that are not public: each does what we use it for, in the installed version."""

import ast
import importlib
import importlib.util
import io
from pathlib import Path

import numba
import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

from hetero import jit
from hetero.numba_internals import compiled_code, dispatchers, libraries

ROOT = Path(__file__).parents[2]
ROOMS = (ROOT / "hetero" / "numba_internals", ROOT / "hetero" / "cuda" / "numba_internals.py")

PUBLIC = ("types", "errors", "cgutils", "typing", "datamodel")
"""Modules of numba.core that authors of extensions are told to use."""


def double(x):
    return 2.0 * x


def too_large_to_be_inlined():
    """Return a function with 60 statements."""
    scope = {"np": np}
    lines = [f"    x = np.sin(x * {i}.5) + {i}.25" for i in range(60)]
    exec("\n".join(["def large(x):", *lines, "    return x"]), scope)
    return scope["large"]


def compiled():
    dispatcher = numba.njit(double)
    assert dispatcher(1.5) == 3.0
    return dispatcher


def assign_in_many_places(n, x):
    y = z = 0.0
    for i in range(n):
        if x > i:
            y = z + x
        elif x < -i:
            z, y = y, 2.0
        else:
            while y < 3.0:
                y += 1.0
                if y == x:
                    break
            x = y - z
    return x, y, z


@pytest.mark.parametrize("target", ["numba", "numba.cuda"])
@pytest.mark.parametrize("function", [assign_in_many_places, too_large_to_be_inlined()])
def test_single_assignment_is_that_of_numba(target, function, monkeypatch):
    from hetero.cuda import driver

    implementation = getattr(driver.cuda, "implementation", None)
    if target == "numba.cuda" and (driver.SIMULATOR or implementation != "NVIDIA"):
        pytest.skip("nothing is compiled for GPUs")
    ssa = importlib.import_module(f"{target}.core.ssa")
    compiler = "numba.core.compiler" if target == "numba" else "numba.cuda.compiler"
    run_frontend = importlib.import_module(compiler).run_frontend
    found = ssa._run_ssa(run_frontend(function).blocks)
    monkeypatch.setattr(ssa, "_run_block_rewrite", ssa._run_block_rewrite.__wrapped__)
    expected = ssa._run_ssa.__wrapped__(run_frontend(function).blocks)
    assert {k: [*map(str, block.body)] for k, block in found.items()} == {
        k: [*map(str, block.body)] for k, block in expected.items()
    }
    assert any("x.1" in str(line) for block in found.values() for line in block.body)


def test_a_function_called_as_written_is_still_compiled_for_compiled_callers():
    kinds = []

    def note(x):
        kinds.append(type(x))
        return 2.0 * x

    noted, doubled = numba.njit(note), numba.njit(double)
    for dispatcher in (noted, doubled):
        dispatchers.call_as_written(dispatcher)
    assert noted(3) == 6.0
    assert kinds == [int]  # Numba could not have appended it
    assert doubled(3) == 6.0
    assert not doubled.signatures
    assert numba.njit(lambda x: doubled(x) + 1.0)(3.0) == 7.0
    assert doubled.signatures


needs_numba_cuda = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None, reason="kernels need numba-cuda"
)


@needs_numba_cuda
def test_the_variant_of_a_function_in_a_kernel_is_found():
    helper = jit.scalar(double)
    assert dispatchers.variant_for_gpu(helper) is None

    @jit.kernel
    def apply(x):
        x[0] = helper(x[0])

    from hetero.cuda.resources import compile_ptx

    assert ".entry" in compile_ptx(apply, (numba.float64[::1],))
    assert len(dispatchers.variant_for_gpu(helper).overloads) == 1


def test_machine_code_calls_its_own_copies():
    """A linked function is local in the object file; Numba would make it weak."""
    options = {"pipeline_class": libraries.SelfContainedCompiler}
    large = numba.njit(too_large_to_be_inlined(), **options)
    call = numba.njit(lambda x: large(x) + large(x + 1.0), **options)
    call(1.5)
    (code,) = call.overloads.values()
    machine_code = ELFFile(io.BytesIO(code.library._get_compiled_object()))
    bindings = [
        symbol["st_info"]["bind"]
        for symbol in machine_code.get_section_by_name(".symtab").iter_symbols()
        if "large" in symbol.name and symbol["st_info"]["type"] == "STT_FUNC"
    ]
    assert bindings == ["STB_LOCAL"]


def test_machine_code_is_made_only_of_what_is_called_from_outside():
    own = {"pipeline_class": libraries.SelfContainedCompiler}
    inside = own | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    inner = numba.njit(double, **inside)

    @numba.njit(parallel=True, **own)
    def fill(x):
        for i in numba.prange(x.size):
            x[i] = inner(x[i])

    x = np.arange(5.0)
    fill(x)
    np.testing.assert_array_equal(x, [0.0, 2.0, 4.0, 6.0, 8.0])
    (code,), (loop,) = inner.overloads.values(), fill.overloads.values()
    assert compiled_code.to_bytes(loop)
    with pytest.raises(RuntimeError, match="no compiled object"):
        code.library._get_compiled_object()

    # What is kept of the inner function, without machine code, is linked like itself.
    from numba.core.registry import cpu_target

    again = compiled_code.from_bytes(cpu_target.target_context, compiled_code.to_bytes(code))
    assert isinstance(again.library, libraries.SelfContainedLibrary)
    assert again.library.get_pointer_to_function(again.fndesc.llvm_func_name)


def test_machine_code_that_is_read_while_a_caller_is_compiled_can_be_called_from_python():
    from numba.core.registry import cpu_target

    # `jit.scalar` may read it from disk, and machine code that was read is not kept as bytes.
    function = numba.njit(double, pipeline_class=libraries.SelfContainedCompiler)
    target = cpu_target.target_context
    assert function(1.5) == 3.0
    data = compiled_code.to_bytes(*function.overloads.values())
    with libraries.self_contained(target.codegen()):  # as while its caller is compiled
        again = compiled_code.from_bytes(target, data)
    assert again.library.get_pointer_to_function(again.fndesc.llvm_cpython_wrapper_name)
    assert again.entry_point(1.5) == 3.0


def test_functions_that_only_compiled_code_calls_may_call_each_other():
    inside = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

    @jit.serial(**inside)
    def is_even(n):
        return True if n == 0 else is_odd(n - 1)

    @jit.serial(**inside)
    def is_odd(n):
        return False if n == 0 else is_even(n - 1)

    ask = jit.serial(lambda n: is_even(n))
    assert ask(10)
    assert not ask(7)


@pytest.mark.parametrize("package", ["hetero", "stablegpu", "rode", "lbm", "sbth", "tmd"])
def test_no_other_room_uses_internals_of_numba(package):
    private = {"_cache", "_compile_for_args", "_reset_overloads", "_unique_ids", "_defn", "_lock"}
    private |= {"_reduce", "_reduce_states", "_rebuild", "_codelibrary", "_prepare_args"}
    private |= {"_is_initialized", "_final_module", "_memory_manager", "_compiler"}
    for path in (ROOT / package).rglob("*.py"):
        if any(room == path or room in path.parents for room in ROOMS):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numba.core."):
                assert node.module.split(".")[2] in PUBLIC, (path, node.module)
            if isinstance(node, ast.Attribute) and node.attr in private:
                own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                assert own, (path, node.lineno, node.attr)
