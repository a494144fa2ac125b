"""The experiments of Riesinger (2017, chapters 5 and 6)."""
