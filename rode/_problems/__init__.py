"""The functions of a problem: checks, trial calls, compilation and its errors."""
