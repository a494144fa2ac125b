"""The kernels for blocks that differ by constants; see `_search.gpu.kernels`."""

from __future__ import annotations

from numba import uint32, uint64

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from tmd._search.formulas import line_formulas as lines
from tmd._search.formulas.lattice_formulas import find_intervals, may_have_case
from tmd._search.formulas.wide_integer_formulas import add
from tmd._search.gpu.kernels import RESIDENT_BLOCKS, THREADS


@kernel(launch_bounds=(THREADS, RESIDENT_BLOCKS))
def test_translates(super_blocks, shape, count, members, step, packets, failing, counters):
    """Test the sub-domains of `packets` packets of all translates (phase 1)."""
    table, subdomain_counts, offsets, bounds = super_blocks
    size, subdomain = uint64(shape.super_block), uint64(shape.subdomain)
    log2_subdomains = size - subdomain
    lane = uint64(cuda.threadIdx.x & 31)
    warp = uint64((cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x) >> 5)
    warps = uint64((cuda.gridDim.x * cuda.blockDim.x) >> 5)
    log2_packet = uint64(shape.packet + 5)
    per_member = uint64(subdomain_counts.size // members)
    for packet in range(warp, packets, warps):
        block = packet >> (log2_subdomains - log2_packet)
        i = (packet << log2_packet) & ((uint64(1) << log2_subdomains) - uint64(1))
        end = subdomain_counts[block]
        if i >= end:
            continue
        i += lane
        t = lines.taylor_coefficients_u32(table, block, i, log2_subdomains)
        b, b1, b2, b3, a, a1, a2 = lines.line_differences(
            t, log2_subdomains - uint64(5), size, subdomain
        )
        b = b[0] + offsets[block], b[1]
        for _ in range(1 << shape.packet):
            slope = lines.fraction_as_float(a[0])
            place = find_intervals(slope, b[0] << uint64(1), step, members, count, bounds[block])
            k, stop = uint32(0), uint32(members if i < end else 0)
            while k < stop:  # Numba's ranges would take as many instructions as the test
                if may_have_case(place, k):
                    index = cuda.atomic.add(counters, 0, 1)
                    if index < failing.size:
                        failing[index] = ((k * per_member + block) << log2_subdomains) + i
                k = uint32(k + uint32(1))
            i += uint64(32)
            b, b1, b2 = add(b, b1), add(b1, b2), add(b2, b3)
            a, a1 = add(a, a1), add(a1, a2)


@kernel
def count_by_member(ids, counters, phase, log2_ids, per_member, counts):
    """Add to counts[phase] how many of ids[:counters[phase]] each translate has."""
    for i in range(cuda.grid(1), min(counters[phase], ids.size), cuda.gridsize(1)):
        cuda.atomic.add(counts, (phase, (ids[i] >> log2_ids) // per_member), 1)
