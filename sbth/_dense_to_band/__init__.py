"""Reduction of a full matrix to a band on a GPU: an own kernel for the panels, cuBLAS for the rest.

`panel_kernels` factors a panel by blocks that run at once, and `panels` launches it.
"""
