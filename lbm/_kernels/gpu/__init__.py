"""Generated kernels of a GPU: their text, their pieces of source, and their tables of walls."""
