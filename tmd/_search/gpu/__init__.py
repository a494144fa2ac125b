"""Kernels of searches, their launches and their memory; `_search/cuda.py` calls them."""
