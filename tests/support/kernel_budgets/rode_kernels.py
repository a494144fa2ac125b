"""Argument types and budgets of rode's kernels; those of the solver are made for each problem."""

import numpy as np
from numba import typeof

from kernel_budgets.budget import f4, f8, read_budgets, u4, u8
from rode._paths.process import Process
from rode._paths.tiles import path_of

_OF_TYPES = """
    _normals.cuda.pairs_box-muller_{T}             48!/32 u4 u4 u4 u4 u4 u4 T*
    _normals.cuda.pairs_rational_{T}               64!    u4 u4 u4 u4 u4 u4 T*
    _normals.cuda.pairs_rational-blending_{T}      64!    u4 u4 u4 u4 u4 u4 T*
    _normals.cuda.rest_box-muller_{T}              48!/32 u4 u4 u4 u4 u4 u4 u4 T*
    _normals.cuda.rest_rational_{T}                64!    u4 u4 u4 u4 u4 u4 u4 T*
    _normals.cuda.rest_rational-blending_{T}       64!    u4 u4 u4 u4 u4 u4 u4 T*
    _normals.ziggurat.cuda.ziggurat_{T}            80!    u4 u4 u4 u4 u4 u4 T* T*
    _normals.ziggurat.cuda.ziggurat_shared_{T}     80!    u4 u4 u4 u4 u4 u4 T* T*
    _normals.ziggurat.cuda.rest_ziggurat_{T}       80!    u4 u4 u4 u4 u4 u4 u4 T* T*
    _normals.wallace.cuda.wallace_{T}              48!/56 u4 u4 u4 u4 u4 bool bool T*
    _paths.cuda.scan_{T}                           64!/96 path T** T*** T* bool T**
    _paths.cuda.scan_noise_{T}                     64!/96 path T** T*** T* bool T**
    _paths.cuda.short_{T}                          40!/48 path T** T*** T* bool T**
    _paths.cuda.short_noise_{T}                    40!/48 path T** T*** T* bool T**
    _paths.cuda.long_{T}                           64!/80 path T* T*** T* word* word* bool T*
    _paths.cuda.long_noise_{T}                     64!/80 path T* T*** T* word* word* bool T*
    _paths.cuda.bridge_{T}                         64!/80 path T*** T T* bool T*
    _paths.cuda.begin_{T}                          40!/48 path T T T*
    _paths.cuda.clear_{T}                          32!    word* word* word
    spectra.cuda.follow[{T}]                       64!/80 T** T** i8 T***
    _paths.prefix_sum.cuda.sweep_blocks[{T}]       40!    T* T* T T* T*
    _paths.prefix_sum.cuda.fix_blocks[{T}]         40!    T* T* T* T
    _paths.averages.cuda.finish_windows[{T}]       64!    T* i8 T** T**
    _paths.averages.cuda.join_parts[{T}]           64!    T** i8 T**
    _solver.statistics.cuda.select_rank_{T}        40!    T** i8* T**
    _solver.cuda.count_paths[{T}]                  40!    T* T** u1* i8*
    _solver.statistics.cuda.sum_nodes[{T}]         72     T** i8 i8* i8* f8** f8**
"""

_FAST = """
    _normals.cuda.pairs_box-muller-fast_float32    56!    u4 u4 u4 u4 u4 u4 f4*
    _normals.cuda.rest_box-muller-fast_float32     56!    u4 u4 u4 u4 u4 u4 u4 f4*
    _normals.cuda.pairs_inverse_float32            56!    u4 u4 u4 u4 u4 u4 f4*
    _normals.cuda.rest_inverse_float32             56!    u4 u4 u4 u4 u4 u4 u4 f4*
    _paths.cuda.scan_fast                          64!    path f4** f4*** f4* bool f4**
    _paths.cuda.short_fast                         64!    path f4** f4*** f4* bool f4**
    _paths.cuda.long_fast                          64!    path f4* f4*** f4* u4* u4* bool f4*
    _paths.cuda.bridge_fast                        64!    path f4*** f4 f4* bool f4*
"""

_INTERVALS = """
    _solver.statistics.cuda.count_interval         40     f8** f8** f8** i8** i8**
    _solver.statistics.cuda.collect_interval       40     f8** f8** f8** i8** f8*
"""


def _path(dtype):
    """Return the type of the numbers of a path."""
    return typeof(path_of(Process(), 0.1, np.dtype(str(dtype)).type, (np.uint32(1),) * 2, 0, 0)[0])


KERNELS = read_budgets("rode", _FAST, slow="_fast$|rest", path=_path(f4)) | read_budgets(
    "rode", _INTERVALS
)
for _dtype, _word in ((f4, u4), (f8, u8)):
    _types = {"T": _dtype, "path": _path(_dtype), "word": _word}
    KERNELS |= read_budgets("rode", _OF_TYPES, slow="_noise|rest", **_types)
    KERNELS |= read_budgets("studies.rode", "normality.cuda.count_{T} 128 T* T* i8* f8**", T=_dtype)
