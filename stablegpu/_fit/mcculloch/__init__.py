"""McCulloch's quantile estimates, the starting values of a fit."""
