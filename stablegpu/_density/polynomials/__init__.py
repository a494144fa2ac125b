"""Values and quantiles of one distribution by piecewise polynomials."""
