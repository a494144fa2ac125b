"""Second starts of an ascent on the GPU: a block searches a data set, a thread takes candidates."""

from numba import float64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from stablegpu._fit.likelihood.second_starts import formulas
from stablegpu._fit.likelihood.second_starts.formulas import CANDIDATES, POINTS  # sizes of arrays
from stablegpu._fit.records import OUTCOME, START

_THREADS = 128
_SPOTS = formulas.SPOTS * formulas.SPOT


@kernel
def find_peaks_of_sets(x, weights, ends, starts, table, outcomes):
    """Find the peaks of the profile of each data set, a block of threads for each."""
    starts, outcomes = starts.view(START), outcomes.view(OUTCOME)
    sample = cuda.shared.array(POINTS, float64)
    spots = cuda.shared.array(_SPOTS, float64)
    scores = cuda.shared.array(CANDIDATES, float64)
    lane, lanes = cuda.threadIdx.x, cuda.blockDim.x
    for s in range(cuda.blockIdx.x, ends.shape[0], cuda.gridDim.x):
        size = formulas.gather(x, weights, ends[s, 0], ends[s, 1], sample, lane, lanes)
        cuda.syncthreads()
        for spot in range(lane, formulas.SPOTS, lanes):
            formulas.find_spot(spot, sample, size, spots)
        cuda.syncthreads()
        for candidate in range(lane, CANDIDATES, lanes):
            scores[candidate] = formulas.score(candidate, sample, size, spots, table, starts[s])
        cuda.syncthreads()
        if lane == 0:
            formulas.write_peaks(scores, spots, table, outcomes[s].peaks)
        cuda.syncthreads()


def find_peaks(x, weights, ends, starts, table, outcomes, stream=0):
    """Write the peaks of the profile of each data set to its outcome."""
    grid = launch.blocks_for(_THREADS * ends.shape[0], _THREADS)
    arguments = (x, weights, ends, starts, table, outcomes)
    launch.launch(find_peaks_of_sets, grid, _THREADS, stream, arguments)
