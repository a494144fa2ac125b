"""Formulas of two solutions of one path, by steps of h and of 2 h; see `pairs`."""

from __future__ import annotations

import functools

from numba import int64

from hetero.jit import scalar
from rode._intrinsics.tuple_algebra import cast, replace_component
from rode._solver.excited_formulas import make_component_of


@functools.cache
def make_selection(observe, index):
    """Make the function that returns one of the outputs."""

    @scalar(forceinline=True)
    def observe_one(t, x, o, p):
        return (observe(t, x, o, p)[index],)

    return observe_one


@functools.cache
def make_paired_update(update, count):
    """Make the fold of a functional of steps h and of steps 2 h."""
    last = 2 * count

    @scalar(forceinline=True)
    def update_both(t, h, y, old, is_first):
        T = type(h)
        fine = cast(update(t, h, y, old[:count], is_first), h)
        if is_first:
            return fine + fine + (T(0.0),)
        if old[last] < T(0.5):
            return fine + old[count:last] + (T(1.0),)
        return fine + cast(update(t, h + h, y, old[count:last], False), h) + (T(0.0),)

    return update_both


@functools.cache
def make_paired_start(start, dimension, size, rows):
    """Make the function that begins both solutions, each from the first `rows` parameters."""
    nothing = (0.0,) * (size - 2 * dimension)

    @scalar(forceinline=True)
    def start_both(o, p):
        like = p[0]
        x = cast(start(o, p[:rows]), like)
        return x + x + cast(nothing, like)

    return start_both


@functools.cache
def make_paired_observe(observe, dimension, count):
    """Make the function that returns the output of both solutions."""
    end = 2 * dimension

    @scalar(forceinline=True)
    def observe_both(t, z, o, p):
        user = p[:count]
        fine = observe(t, z[:dimension], o, user)[0]
        return fine, observe(t, z[dimension:end], o, user)[0]

    return observe_both


@functools.cache
def make_paired_step(step, dimension, components, forms, counts, at_end):
    """Make the step of both solutions from that of one.

    The user's functions take the first counts[0] of the parameters, and the factors of the forms
    begin at number counts[1]. If the only form is O at the end of the step (`at_end`), that of the
    double step is that of its second half.
    """
    count, begin = counts
    n, end = dimension, 2 * dimension
    sums, last = end + components, end + components * (1 + forms)
    flatten, join = _make_flatten(components, forms), _make_join(components, forms)
    fine_forms = _make_forms(components, forms, begin)
    coarse_forms = _make_forms(components, forms, begin + forms * (forms + 1))
    component_of = make_component_of(components)
    if at_end:
        join, fine_forms = _keep_second, _make_end(components)
        coarse_forms = fine_forms

    @scalar(forceinline=True)
    def step_both(t, z, o, given, p, h):
        T, user = type(h), p[:count]
        now, second = flatten(o, given, h)
        fine = step(t, z[:n], o, fine_forms(now, second, p), user, h)
        if z[last] < T(0.5):
            return fine + z[n:end] + now + second + (T(1.0),)
        start, both = z[end:sums], join(z[sums:last], second, h)
        values = coarse_forms(start, both, p)
        coarse = step(t - h, z[n:end], component_of(start), values, user, h + h)
        return fine + coarse + now + second + (T(0.0),)

    return step_both


@scalar(forceinline=True)
def _keep_second(first, second, h):
    """Return the end of the second step."""
    return second


def _make_end(components):
    """Make `forms_of(start, sums, p)` for a form that is O at the end."""
    component_of = make_component_of(components)

    @scalar(forceinline=True)
    def end_of(start, sums, p):
        return (component_of(sums),)

    return end_of


def _make_flatten(components, forms):
    """Make `flatten(o, given, h)`: O, and the forms one after another, as tuples of numbers."""
    zeros = (0.0,) * (components * forms)

    @scalar(forceinline=True)
    def flatten_one(o, given, h):
        return (o,), given

    @scalar(forceinline=True)
    def flatten_several(o, given, h):
        result = cast(zeros, h)
        for k in range(forms):
            for c in range(components):
                result = replace_component(result, int64(k * components + c), given[k][c])
        return o, result

    return flatten_one if components == 1 else flatten_several


def _make_join(components, forms):
    """Make `join(first, second, h)`: the integrals over two steps from those over each."""

    @scalar(forceinline=True)
    def join(first, second, h):
        T, result = type(h), second
        for c in range(components):
            for d in range(forms):
                total, power = second[d * components + c], T(1.0)
                for k in range(d + 1):
                    total = total + power * first[(d - k) * components + c]
                    power = power * h / T(k + 1)
                result = replace_component(result, int64(d * components + c), total)
        return result

    return join


def _make_forms(components, forms, begin):
    """Make `forms_of(start, sums, p)`: a scheme's forms, by factors from parameter `begin` on."""
    zeros, component_of = (0.0,) * components, make_component_of(components)

    def make_form(k):
        first = begin + k * (forms + 1)

        @scalar(forceinline=True)
        def form(start, sums, p):
            result = cast(zeros, p[0])
            for c in range(components):
                total = p[first] * start[c]
                for d in range(forms):
                    total = total + p[first + 1 + d] * sums[d * components + c]
                result = replace_component(result, int64(c), total)
            return (component_of(result),)

        return form

    def append(before, after):
        @scalar(forceinline=True)
        def forms_of(start, sums, p):
            return before(start, sums, p) + after(start, sums, p)

        return forms_of

    result = make_form(0)
    for k in range(1, forms):
        result = append(result, make_form(k))
    return result
