"""Statistics of the moments of all cells, for both targets."""

from hetero.jit import scalar


@scalar(forceinline=True)
def add_sample(i, fields, mean, squares, share):
    """Add a sample to the mean and the sum of squared deviations of cell i (Welford).

    The arrays are [4, cell], and `share` is the inverse of the number of samples.
    """
    for k in range(fields.shape[0]):
        deviation = fields[k, i] - mean[k, i]
        mean[k, i] += deviation * share
        squares[k, i] += deviation * (fields[k, i] - mean[k, i])
