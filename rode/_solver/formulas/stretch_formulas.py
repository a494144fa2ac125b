"""Stretches of fine steps, by which threads of a GPU share the path of a coarse step."""

# ruff: noqa: RUF005 - Numba joins tuples by +.

from __future__ import annotations

from numba import int64, uint32

from hetero.intrinsics.floats import fma
from hetero.jit import scalar
from hetero.philox.formulas import philox10
from rode._intrinsics.tuple_algebra import add_to_iterated_sums, cast, replace_component
from rode._paths.step_formulas import advance
from rode._solver.formulas.stage_formulas import block_of, first_fine_step, words_of_block


def make_join(length):
    """Make `join(transfers, level, first, second)`: the state after two neighbouring stretches.

    The second has begun from O = 0; `transfers[level]` carries the state over its length.
    """

    @scalar(forceinline=True)
    def join(transfers, level, first, second):
        joined = second
        for i in range(length):
            total = second[i]
            for j in range(i + 1):
                total = fma(transfers[level, i, j], first[j], total)
            joined = replace_component(joined, int64(i), total)
        return joined

    return join


def make_walk_stretches(spec):
    """Make `walk_stretches(run, n, path, lane, o, transfers, waiting)` for a thread of a path.

    It returns (O, F_0, F_1, ..) after the thread's stretches of coarse step n. They are joined in
    pairs, pairs in pairs, and so on, as the threads of a path are: `waiting`, (5, size), holds the
    states that wait for their neighbour.
    """
    size, draw, walk = block_of(spec)
    length = spec.form_count + 1
    zeros, join = (0.0,) * spec.form_count, make_join(length)
    read_row, write_row = _make_read_row(length), _make_write_row(length)

    @scalar
    def walk_part(run, path, block, low, high, value, sums):
        """Advance by the numbers low .. high - 1 of a block that two coarse steps share."""
        numbers = draw(*words_of_block(run.counter, block, path), run.sigma)
        for j in range(low, high):
            value = advance(value, run.mu_minus_1, numbers[j])
            sums = add_to_iterated_sums(sums, value)
        return value, sums

    @scalar(forceinline=True)
    def walk_blocks(run, block, stop, path, value, sums):
        """Advance by the numbers of the blocks before `stop`."""
        counter = run.counter
        while block < stop:
            # The upper word is constant in the inner loop, which saves a tenth of Philox's work.
            low, high = uint32(block), uint32(block >> int64(32))
            count = min(stop - block, (int64(1) << int64(32)) - int64(low))
            for _ in range(count):
                w0, w1, w2, w3 = philox10(low, high, path, counter.stream, counter.k0, counter.k1)
                numbers = draw(w0, w1, w2, w3, run.sigma)
                value, sums = walk(value, sums, numbers, run.mu_minus_1)
                low = uint32(low + uint32(1))
            block += count
        return value, sums

    @scalar
    def walk_whole(run, begin, path, value):
        """Return the process and its sums after a coarse step that begins with fine step `begin`.

        Neither that nor the number of fine steps need be a multiple of a block's size.
        """
        end, block, sums = begin + int64(run.fine_steps), begin // size, cast(zeros, run.h)
        if begin > block * size:
            value, sums = walk_part(
                run, path, block, begin - block * size, min(size, end - block * size), value, sums
            )
            block += 1
        value, sums = walk_blocks(run, block, end // size, path, value, sums)
        block = max(block, end // size)
        if block * size < end:
            value, sums = walk_part(run, path, block, 0, end - block * size, value, sums)
        return (value,) + sums

    @scalar(forceinline=True)
    def walk_stretches(run, n, path, lane, o, transfers, waiting):
        if run.stretch_blocks == 0:
            return walk_whole(run, first_fine_step(run, n), path, o)
        stretches, last = uint32(run.own_stretches), uint32(run.own_stretches - 1)
        value, blocks = (o if lane == 0 else o - o), int64(run.stretch_blocks)
        block = first_fine_step(run, n) // size + int64(lane) * int64(stretches) * blocks
        k = uint32(0)
        while True:
            value, sums = walk_blocks(run, block, block + blocks, path, value, cast(zeros, run.h))
            state = (value,) + sums
            level, bits = uint32(0), k
            while bits & uint32(1):
                state = join(transfers, level, read_row(waiting, level, run.h), state)
                level, bits = uint32(level + uint32(1)), uint32(bits >> uint32(1))
            if k == last:
                return state
            write_row(state, waiting, level)
            k, block, value = uint32(k + uint32(1)), block + blocks, o - o

    return walk_stretches


def _make_read_row(count):
    """Make `read_row(array, row, like)`: the `count` numbers of a row as a tuple."""
    zeros = (0.0,) * count

    @scalar(forceinline=True)
    def read_row(array, row, like):
        result = cast(zeros, like)
        for i in range(count):
            result = replace_component(result, int64(i), array[row, i])
        return result

    return read_row


def _make_write_row(count):
    """Make `write_row(values, array, row)`, which writes a tuple into a row."""

    @scalar(forceinline=True)
    def write_row(values, array, row):
        for i in range(count):
            array[row, i] = values[i]

    return write_row
