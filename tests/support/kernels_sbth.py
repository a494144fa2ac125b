"""Kernels of sbth. Each tile's text is compiled once by default, the others by slow tests."""

from budget import Budget, array, f4, f8, i4, i8

_REDUCTION = {
    f"sbth._reduction_cuda.{name}_{tile}_{dtype}": Budget(
        (array(dtype), i4, i4, i4, *rest(dtype)),
        255,
        float64=dtype is f8,
        slow=name == "step" or tile == 64,
    )
    for name, rest in (
        ("chase", lambda t: (array(i4), array(i4))),
        ("step", lambda t: (i4, i4, array(t, 2), array(t))),
    )
    for tile in (16, 32, 64)
    for dtype in (f4, f8)
}
KERNELS = _REDUCTION | {
    "sbth._sturm_cuda.bisect_values": Budget((*(array(f8),) * 2, *(f8,) * 4, i8, array(f8)), 96),
    "sbth._sturm_cuda.count_below": Budget((*(array(f8),) * 2, f8, array(f8), array(i8)), 48),
}
