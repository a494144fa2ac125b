"""Reduction of a full matrix to a band: on a GPU an own kernel for the panels, cuBLAS for the rest.

`reduction` goes from panel to panel, on the CPU, too. On a GPU `triangles` reads the triangle that
counts, and `panels` launches the kernel of `panel_kernels`, by which blocks that run at once factor
a panel. `back_transformation` applies the transformations of the panels to vectors.
"""
