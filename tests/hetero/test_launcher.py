"""Prepared launches, with a driver of which only the contexts are modelled."""

from types import SimpleNamespace

import pytest

driver = pytest.importorskip("cuda.bindings.driver")


@pytest.fixture
def contexts(replace_driver):
    """Return the stack of contexts of a thread, the context of each launch, and its result."""
    contexts = SimpleNamespace(stack=[1], launches=[], switches=0, result=None)

    def push(context):
        contexts.stack.append(int(context))
        contexts.switches += 1

    def launch(*arguments):
        contexts.launches.append(contexts.stack[-1])
        return contexts.result

    replace_driver(
        cuCtxGetCurrent=lambda: driver.CUcontext(contexts.stack[-1]), cuCtxPushCurrent=push,
        cuCtxPopCurrent=lambda: driver.CUcontext(contexts.stack.pop()), cuLaunchKernel=launch,
    )  # fmt: skip
    return contexts


def prepare():
    """Prepare the launch of a kernel without arguments."""
    from hetero.cuda.launcher import Launcher

    library = SimpleNamespace(get_cufunc=lambda: SimpleNamespace(handle=7))
    compiled = SimpleNamespace(argument_types=(), _codelibrary=library)
    return Launcher(SimpleNamespace(compile=lambda types: compiled), (1,), (32,), 0, ())


def test_a_prepared_launch_goes_to_the_gpu_on_which_it_was_prepared(contexts):
    launch = prepare()
    contexts.stack.append(2)
    launch()
    contexts.stack.append(1)
    launch()
    assert contexts.launches == [1, 1]
    assert contexts.stack == [1, 2, 1]  # the caller's GPU is current again


def test_a_launch_on_the_current_gpu_switches_no_context(contexts):
    prepare()()
    assert contexts.switches == 0


def test_the_callers_gpu_is_current_again_after_a_launch_that_failed(contexts):
    launch = prepare()
    contexts.stack.append(2)
    contexts.result = driver.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(RuntimeError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        launch()
    assert contexts.stack == [1, 2]
