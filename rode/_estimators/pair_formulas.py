"""Formulas of two solutions of one path, by steps of h and of 2 h; see `pairs`."""

from __future__ import annotations

import functools

from hetero.jit import scalar
from rode._intrinsics.tuple_algebra import cast, choose, multiply_rows
from rode._solver.formulas.excited_formulas import concatenate, make_component_of


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
        coarse = cast(update(t, h + h, y, old[count:last], is_first), h)
        if is_first:
            return fine + coarse + (T(0.0),)
        return fine + choose(old[last] > T(0.5), coarse, old[count:last]) + (T(1.0) - old[last],)

    return update_both


@functools.cache
def make_paired_start(start, dimension, size, rows, components):
    """Make the function that begins both solutions, each from the first `rows` parameters."""
    nothing, flatten_o = (0.0,) * (size - 2 * dimension), _make_flatten_one(components)

    @scalar(forceinline=True)
    def start_both(o, p):
        like = flatten_o(o)[0]
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
def make_paired_step(step, dimension, components, count, forms):
    """Make the step of both solutions from that of one.

    The user's functions take the first `count` parameters; `forms` is a `pairs.PairForms`.
    """
    n, end = dimension, 2 * dimension
    last = end + components * (1 + forms.number)
    first, at_end = end + components, forms.at_end
    fine_rows, coarse_rows = forms.fine or (0.0,), forms.coarse or (0.0,)
    flatten_o, flatten = _make_flatten_one(components), _make_flatten(components, forms.number)
    nested, component_of = _make_nested(components, forms.number), make_component_of(components)
    powers = _make_powers(forms.degrees)

    @scalar(forceinline=True)
    def step_both(t, z, o, terms, p, h):
        T, user = type(h), p[:count]
        now, sums, start = flatten_o(o), flatten(terms), z[end:first]
        if at_end:
            fine_forms, coarse_forms = terms, terms
        else:
            rows, others = cast(fine_rows, h), cast(coarse_rows, h)
            fine_forms = nested(multiply_rows(rows, powers(h), now + sums, now))
            coarse_forms = nested(multiply_rows(others, powers(h + h), z[end:last] + sums, now))
        fine = step(t, z[:n], o, fine_forms, user, h)
        coarse = step(t - h, z[n:end], component_of(start), coarse_forms, user, h + h)
        # No branch, so that paths side by side are computed by vector units.
        coarse = choose(z[last] > T(0.5), coarse, z[n:end])
        return fine + coarse + now + sums + (T(1.0) - z[last],)

    return step_both


def _make_powers(degrees):
    """Make `powers(h)`: a tuple of h to each of some degrees."""

    def make_power(degree):
        @scalar(forceinline=True)
        def power(h):
            result = type(h)(1.0)
            for _ in range(degree):
                result = result * h
            return (result,)

        return power

    return concatenate([make_power(degree) for degree in degrees or (0,)])


def _make_flatten_one(components):
    """Make `flatten_o(o)`: O as a tuple."""
    if components > 1:

        @scalar(forceinline=True)
        def flatten_o(o):
            return o

    else:

        @scalar(forceinline=True)
        def flatten_o(o):
            return (o,)

    return flatten_o


def _make_flatten(components, forms):
    """Make `flatten(given)`: the forms, which may be tuples, as one tuple of numbers."""
    if components == 1:

        @scalar(forceinline=True)
        def flatten(terms):
            return terms

        return flatten

    def make_form(k):
        @scalar(forceinline=True)
        def form(terms):
            return terms[k]

        return form

    return concatenate([make_form(k) for k in range(forms)])


def _make_nested(components, forms):
    """Make `nested(values)`: the forms, for several components each as a tuple."""
    if components == 1:

        @scalar(forceinline=True)
        def nested(values):
            return values

        return nested

    def make_form(low, high):
        @scalar(forceinline=True)
        def form(values):
            return (values[low:high],)

        return form

    ends = range(0, forms * components, components)
    return concatenate([make_form(low, low + components) for low in ends])
