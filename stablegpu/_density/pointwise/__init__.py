"""Values at points with individual parameters."""
