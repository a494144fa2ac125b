"""Normal numbers by Box-Muller and by the inverse of the distribution function."""
