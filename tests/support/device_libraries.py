"""Libraries with arrays on a GPU: the type of their arrays, and functions to and from them."""

import numpy as np
import pytest


def _cupy():
    cupy = pytest.importorskip("cupy")
    return cupy.ndarray, cupy.asarray, cupy.asnumpy


def _torch():
    torch = pytest.importorskip("torch")
    return torch.Tensor, lambda v: torch.tensor(v, device="cuda"), lambda t: t.cpu().numpy()


def _numba():
    from hetero.cuda.driver import cuda

    return type(cuda.to_device(np.ones(1))), cuda.to_device, lambda a: a.copy_to_host()


def _jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.Array, jax.numpy.asarray, np.asarray


LIBRARIES = {"cupy": _cupy, "torch": _torch, "numba": _numba, "jax": _jax}
