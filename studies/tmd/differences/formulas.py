"""Addition of long integers, word by word, for both targets."""

import numpy as np

from hetero.jit import scalar


@scalar
def add_words(a, b, carry):
    """Return the lowest word of a + b + carry, and the new carry; carries are 0 or 1."""
    partial = np.uint64(a + b)
    total = np.uint64(partial + carry)
    return total, np.uint64(partial < a) | np.uint64(total < partial)
