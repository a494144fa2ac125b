"""Values at points that each have their own parameters."""
