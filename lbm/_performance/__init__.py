"""A performance model of steps on many devices, after Riesinger (2017, chapter 15)."""
