"""Blocks of normal numbers, for loops on a CPU."""

from numba import uint64

from hetero.jit import serial
from hetero.philox.formulas import words10


@serial(forceinline=True)
def counter(block):
    """Return the lower two words of the counter for block number `block` of a fill.

    A launch on a GPU makes 2^31 blocks; the next one's number is in the higher word.
    """
    return block + (block >> uint64(31) << uint64(31))


def chunk_of(draw, size):
    """Make `chunk(first, .., four, part)`: the numbers of blocks `first` and on.

    Number j of block first + l goes to part[j, l].
    """

    @serial
    def chunk(first, k0, k1, path, stream, sigma, four, part):
        """Fill `four` with words and `part` with numbers.

        Plain loops without branches become vector instructions.
        """
        for l in range(four.shape[1]):
            a, b, c, d = words10(first + uint64(l), path, stream, k0, k1)
            four[0, l] = a
            four[1, l] = b
            four[2, l] = c
            four[3, l] = d
        for l in range(four.shape[1]):
            numbers = draw(four[0, l], four[1, l], four[2, l], four[3, l], sigma)
            part[0, l] = numbers[0]
            part[1, l] = numbers[1]
            if size == 4:
                part[2, l] = numbers[-2]
                part[3, l] = numbers[-1]

    return chunk
