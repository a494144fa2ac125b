"""Formulas of coarse steps with an excitation, which the loops on both targets call.

A path keeps z = (x, s, u): the unknowns, the states of the excitation's filters, and u itself.
"""

from __future__ import annotations

import functools

from numba import int64, uint32

from hetero.intrinsics.floats import fma
from hetero.jit import scalar
from hetero.philox.formulas import philox10
from rode._intrinsics.tuple_algebra import cast, replace_component
from rode._paths.noise_formulas import START


def concatenate(functions):
    """Make the function that returns the tuples of several functions as one."""

    def append(before, after):
        @scalar(forceinline=True)
        def both(*arguments):
            return before(*arguments) + after(*arguments)

        return both

    return functools.reduce(append, functions)


def make_draw_numbers(draw, size, count):
    """Make `draw_numbers(high, path, counter, like)`: `count` or some more normal numbers.

    Their blocks are numbered by the lower counter word; `high` is the number of the coarse step,
    or `START`.
    """

    def make_block(block):
        @scalar(forceinline=True)
        def draw_block(high, path, counter, like):
            words = philox10(uint32(block), high, path, counter.stream, counter.k0, counter.k1)
            return draw(words[0], words[1], words[2], words[3], type(like)(1.0))

        return draw_block

    return concatenate([make_block(block) for block in range(-(-count // size))])


def make_product(rows, columns):
    """Make `multiply(matrix, first, x, total)`, which adds a product to the tuple `total`.

    The matrix has its columns from number `first` on multiplied by the first numbers of x.
    """

    @scalar(forceinline=True)
    def multiply(matrix, first, x, total):
        for i in range(rows):
            value = total[i]
            for j in range(columns):
                value = fma(matrix[i, first + j], x[j], value)
            total = replace_component(total, int64(i), value)
        return total

    return multiply


def make_component_of(components):
    """Make `component_of(values)`: a number for one component, else the tuple itself."""
    if components == 1:

        @scalar(forceinline=True)
        def component_of(values):
            return values[0]

    else:

        @scalar(forceinline=True)
        def component_of(values):
            return values

    return component_of


def make_forms(count, length, components):
    """Make `forms_of(rows, v)`: a tuple of `count` forms, each for all components.

    v has `length` numbers of each component: u at both ends of the step, J_0, J_1, ..
    """
    zeros, component_of = (0.0,) * components, make_component_of(components)

    def make_form(k):
        @scalar(forceinline=True)
        def form(rows, v):
            result = cast(zeros, v[0])
            for c in range(components):
                total = rows[k, 0] * v[c * length]
                for j in range(1, length):
                    total = fma(rows[k, j], v[c * length + j], total)
                result = replace_component(result, int64(c), total)
            return (component_of(result),)

        return form

    return concatenate([make_form(k) for k in range(count)])


def make_excited_step(spec, block):
    """Make `take_step(run, arrays, n, path, number, z, p)`, which returns z after coarse step n."""
    shape, step = spec.excited, spec.step
    dimension, states, sums, targets = shape.dimension, shape.states, shape.sums, shape.targets
    outputs, components, is_given = len(targets), shape.components, shape.is_given
    size, numbers = states + outputs * sums, shape.numbers
    length = spec.form_count + 2
    draw = make_draw_numbers(block.draw, block.size, max(numbers, 1))
    carry, spread = make_product(size, states), make_product(size, numbers)
    observe = make_product(outputs, states)
    forms_of = make_forms(spec.form_count, length, components)
    component_of = make_component_of(components)
    zeros, zero_outputs = (0.0,) * max(size, 1), (0.0,) * max(outputs, 1)
    zero_forms, zero_u = (0.0,) * (components * length), (0.0,) * components
    target_of = targets or (0,)

    @scalar
    def take_step(run, arrays, n, path, number, z, p):
        h, T, done = run.h, type(run.h), run.done + n
        x, s = z[:dimension], z[dimension:]
        v = cast(zero_forms, h)
        after = cast(zeros, h)
        if size > 0:
            after = carry(arrays.drawing, 0, s, after)
            noise = draw(uint32(done), path, run.counter, h)
            after = spread(arrays.drawing, states, noise, after)
            before = observe(arrays.outputs, 0, s, cast(zero_outputs, h))
            behind = observe(arrays.outputs, 0, after, cast(zero_outputs, h))
            for r in range(outputs):
                c = target_of[r] * length
                e, end = arrays.envelopes[done, r], arrays.envelopes[done + 1, r]
                slope = (end - e) / h
                v = replace_component(v, int64(c), fma(e, before[r], v[c]))
                v = replace_component(v, int64(c + 1), fma(end, behind[r], v[c + 1]))
                for d in range(sums - 1):
                    J, K = after[states + d * outputs + r], after[states + (d + 1) * outputs + r]
                    changed = e * J + slope * (h * J - T(d + 1) * K)
                    v = replace_component(v, int64(c + 2 + d), v[c + 2 + d] + changed)
        if is_given:
            record = number if arrays.given.shape[3] > 1 else int64(0)
            for c in range(components):
                for j in range(length):
                    k = c * length + j
                    v = replace_component(v, int64(k), v[k] + arrays.given[done, c, j, record])
        start, u = cast(zero_u, h), cast(zero_u, h)
        for c in range(components):
            start = replace_component(start, int64(c), v[c * length])
            u = replace_component(u, int64(c), v[c * length + 1])
        t = run.t + T(done) * h
        x = step(t, x, component_of(start), forms_of(arrays.rows, v), p, h)
        return x + after[:states] + u

    return take_step


def make_excited_start(spec, block):
    """Make `start_path(run, path, number, arrays, p)`, which returns z at the start."""
    shape, initial = spec.excited, spec.start
    states, targets, components = shape.states, shape.targets, shape.components
    outputs, is_given = len(targets), shape.is_given
    draw = make_draw_numbers(block.draw, block.size, max(states, 1))
    spread, observe = make_product(states, states), make_product(outputs, states)
    component_of = make_component_of(components)
    zeros, zero_outputs, zero_u = (
        (0.0,) * max(states, 1),
        (0.0,) * max(outputs, 1),
        (0.0,) * components,
    )
    target_of = targets or (0,)

    @scalar
    def start_path(run, path, number, arrays, p):
        h = run.h
        s, u = cast(zeros, h), cast(zero_u, h)
        if states > 0:
            for i in range(states):
                s = replace_component(s, int64(i), arrays.starting[i, 0])
            s = spread(arrays.starting, 1, draw(START, path, run.counter, h), s)
            before = observe(arrays.outputs, 0, s, cast(zero_outputs, h))
            for r in range(outputs):
                c = target_of[r]
                u = replace_component(u, int64(c), fma(arrays.envelopes[0, r], before[r], u[c]))
        if is_given:
            record = number if arrays.given.shape[3] > 1 else int64(0)
            for c in range(components):
                u = replace_component(u, int64(c), u[c] + arrays.given[0, c, 0, record])
        return cast(initial(component_of(u), p), h) + s[:states] + u

    return start_path


@functools.cache
def make_observe(observe, shape):
    """Make the function (t, z, O, p) -> outputs, which takes u from z."""
    dimension, begin = shape.dimension, shape.dimension + shape.states
    component_of = make_component_of(shape.components)

    @scalar(forceinline=True)
    def observe_path(t, z, o, p):
        return observe(t, z[:dimension], component_of(z[begin:]), p)

    return observe_path
