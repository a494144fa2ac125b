"""Diagonal blocks of a matrix that do not touch each other, which are solved one by one."""
