"""The constants of half-lines (`half_line.py`), compiled for both targets."""

from hetero.jit import scalar
from stablegpu._density import half_line

extent = scalar(half_line.extent)
half_line_at_one = scalar(half_line.half_line_at_one)
half_line_of = scalar(half_line.half_line_of)
