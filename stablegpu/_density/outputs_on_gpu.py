"""The six outputs of an evaluation, written by kernels (see `outputs.py`)."""

from hetero.jit import kernel
from stablegpu._density.outputs import write_values

write_to = kernel(device=True)(write_values)
"""`write_values` in kernels."""
