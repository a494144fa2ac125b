"""Results of runs: their values, tables, figures and probabilities, and how parts are joined."""
