"""What the ranks of a simulation tell each other besides populations, and how they end together."""
