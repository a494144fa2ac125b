"""Vectors of numbers in one register, for loops on the CPU that compilers do not vectorise."""
