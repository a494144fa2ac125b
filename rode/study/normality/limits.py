"""Sizes of the statistics of normal numbers, for both targets."""

BINS = 64_000
"""Number of equally likely intervals of the normal distribution."""

ORDERS, LAGS = 8, 4
SUMS = ORDERS + 2 * LAGS + 4
"""Powers 1 .. 8; x and x^2 - 1 times those `lag` later; x and x^2 - 1 times the other stream's;
numbers beyond 4 and beyond 5."""
