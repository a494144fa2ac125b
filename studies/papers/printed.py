"""Tables of the documents as they are printed, for the list of results and for studies.

Nothing is imported here, so that studies and the list read the same numbers.
"""

from __future__ import annotations

MEDIAN_ERRORS = {
    "pdf": {
        (0.25, 0.0): 8.64e-11, (0.25, 0.5): 1.05e-10, (0.25, 1.0): 2.52e-16,
        (0.5, 0.0): 2.32e-16, (0.5, 0.5): 2.06e-16,
        (0.75, 0.0): 9.22e-16, (0.75, 0.5): 8.71e-16, (0.75, 1.0): 4.05e-16,
        (1.25, 0.0): 1.26e-11, (1.25, 0.5): 1.23e-11, (1.25, 1.0): 1.81e-15,
        (1.5, 0.0): 2.96e-11, (1.5, 0.5): 2.93e-11, (1.5, 1.0): 4.11e-16,
    },
    "cdf": {
        (0.25, 0.0): 4.99e-11, (0.25, 0.5): 4.47e-11, (0.25, 1.0): 1.49e-16,
        (0.5, 0.0): 3.83e-15, (0.5, 0.5): 7.5e-15,
        (0.75, 0.0): 2.58e-15, (0.75, 0.5): 1.82e-15, (0.75, 1.0): 3.62e-16,
        (1.25, 0.0): 1.51e-15, (1.25, 0.5): 2.17e-15, (1.25, 1.0): 6.67e-16,
        (1.5, 0.0): 1.43e-15, (1.5, 0.5): 1.64e-15, (1.5, 1.0): 6.67e-16,
    },
    "quantile": {
        (0.25, 0.0): 1.52e-7, (0.25, 0.5): 3.87e-6, (0.25, 1.0): 6.48e-6,
        (0.5, 0.0): 7.89e-7, (0.5, 0.5): 4.19e-6,
        (0.75, 0.0): 2.21e-6, (0.75, 0.5): 2.88e-6, (0.75, 1.0): 6.92e-6,
        (1.25, 0.0): 4.74e-6, (1.25, 0.5): 1.92e-6, (1.25, 1.0): 6.97e-6,
        (1.5, 0.0): 2.56e-6, (1.5, 0.5): 1.09e-7, (1.5, 1.0): 2.58e-6,
    },
}  # fmt: skip
"""Medians of relative errors by alpha and beta (Julian-Moreno et al. 2016, tables 2, 4 and 7)."""

MILLISECONDS_OF_A_POINT = {
    "pdf": (0.003, 0.0042, 0.0028, 0.0311, 0.0072),
    "cdf": (0.0029, 0.0041, 0.0024, 0.0525, 0.0115),
    "both": (0.003, 0.0042, 0.0026, 0.0829, 0.0158),
    "quantile": (0.0096, 0.0179, 0.0065, 0.2631, 0.0557),
}
"""ms a point of 1000 points by `MACHINES` (Julian-Moreno et al. 2016, tables 3, 5, 6 and 8)."""

MACHINES = (
    "Tesla K40",
    "Tesla M2090",
    "Radeon R9 290X",
    "libstable, 1 thread",
    "libstable, 12 threads",
)

FIT_MILLISECONDS = {
    "libstable": (11291.476, 18244.981),
    "libstable, density on an M2090": (628.2777, 1134.724),
    "GPU grid, M2090": (82.73002, 168.3666),
    "GPU grid, K40": (20.07744, 27.97425),
    "GPU grid, R9 290X": (120.3731, 180.3383),
    "densities precomputed, MATLAB": (257.0785, 585.6634),
}
"""Mean and 95th percentile in ms (Julian-Moreno et al. 2016, table 9).

libstable ran on a Xeon E5-2630 v2."""

KERNEL_OF_500_POINTS = {
    "kernel of 500 points, ms": (2.11, 1.03, 1.44),
    "global memory, GB/s": (13.59, 27.98, 10.00),
    "global memory, %": (7.68, 9.72, 2.84),
    "local memory, GB/s": (980.32, 2018.03, 1384.36),
    "local memory, %": (36.82, 11.76, 49.16),
}
"""On an M2090, a K40 and an R9 290X (Julian-Moreno et al. 2016, table 10)."""

MEAN_ERRORS = {
    "pdf": {
        (0.25, 0.0): (7.1e-16, 6.5e-16, 7.1e-16),
        (0.25, 0.5): (1.5e-15, 1.0e-15, 6.9e-16),
        (0.25, 1.0): (None, 9.8e-16, 6.5e-16),
        (0.5, 0.0): (9.7e-16, 7.2e-16, 9.7e-16),
        (0.5, 0.5): (1.5e-15, 8.9e-16, 8.6e-16),
        (0.5, 1.0): (None, 8.9e-16, 7.2e-16),
        (0.75, 0.0): (3.7e-15, 8.1e-16, 3.7e-15),
        (0.75, 0.5): (7.5e-15, 1.1e-15, 2.6e-15),
        (0.75, 1.0): (None, 7.4e-14, 2.2e-15),
        (1.0, 0.0): (6.4e-16, 7.1e-16, 6.4e-16),
        (1.0, 0.5): (6.7e-13, 2.0e-15, 8.1e-13),
        (1.0, 1.0): (None, 7.7e-13, 3.5e-13),
        (1.5, 0.0): (2.4e-13, 1.3e-15, 2.4e-13),
        (1.5, 0.5): (2.3e-13, 1.3e-15, 1.8e-13),
        (1.5, 1.0): (None, 4.3e-13, 7.9e-14),
    },
    "cdf": {
        (0.25, 0.0): (6.0e-15, 1.4e-15, 7.1e-16),
        (0.25, 0.5): (1.2e-14, 2.2e-15, 7.7e-16),
        (0.25, 1.0): (None, 1.2e-15, 8.4e-16),
        (0.5, 0.0): (2.3e-14, 1.6e-15, 6.5e-16),
        (0.5, 0.5): (4.0e-14, 2.2e-15, 6.6e-16),
        (0.5, 1.0): (None, 6.4e-16, 2.7e-16),
        (0.75, 0.0): (8.5e-14, 1.8e-15, 6.3e-16),
        (0.75, 0.5): (1.6e-13, 2.7e-15, 6.3e-16),
        (0.75, 1.0): (None, 2.5e-13, 6.8e-16),
        (1.0, 0.0): (2.4e-15, 4.7e-16, 2.4e-16),
        (1.0, 0.5): (6.0e-13, 4.7e-16, 2.4e-16),
        (1.0, 1.0): (None, 5.7e-14, 1.8e-13),
        (1.5, 0.0): (8.1e-13, 2.2e-15, 8.1e-16),
        (1.5, 0.5): (6.2e-13, 2.7e-15, 8.1e-16),
        (1.5, 1.0): (None, 2.4e-14, 5.9e-16),
    },
}
"""Mean relative errors by alpha and beta in `INTERVALS` (Royuela-del-Val et al. 2017, tables 1 and
2). For beta = 1 nothing is printed on the left, where the density is 0 or tiny."""

INTERVALS = ("[-1000, -10]", "[-10, 10]", "[10, 1000]")

PARALLEL_SHARES = {("0.75", "0.5"): (0.98, 0.98), ("1.5", "0.5"): (0.94, 0.98)}
"""Shares of the work that threads divide, pdf and cdf (Royuela-del-Val et al. 2017, table 3)."""

SEARCH_SECONDS = {
    "polynomials": (43300.81, 5251.53, 788.84),
    "lefevre": (36816.10, 5292.67, 2446.27),
    "regular": (34039.94, 4716.97, 711.92),
}
"""Seconds for 2^53 arguments of [1, 2) on one core, on six cores and on a C2070 (Fortin et al.
2016, table 4)."""

SEARCH_SECONDS_OF_BINADES = {
    "polynomials": (5336.81, 11243.26, 785.14, 1612.03),
    "lefevre": (5292.67, 169911.90, 2446.78, 51530.44),
    "regular": (4716.96, None, 711.8, 61581.87),
}
"""The same of [1, 2) and of [128, 256), on six cores, and on a C2070 (Fortin et al. 2016, table
5)."""

BLAS_CALLS = {
    1000: {
        "axpy": (100_974, 69_268, 34_500, 17_044, 8892),
        "copy": (236_735, 163_278, 82_158, 41_430, 21_024),
        "dot": (67_524, 46_506, 23_330, 11_694, 5864),
        "nrm2": (136_468, 95_040, 48_672, 25_392, 13_728),
        "scal": (169_168, 116_756, 58_820, 29_732, 15_158),
        "gemv": (66_900, 45_524, 22_340, 10_700, 4868),
        "ger": (66_900, 45_524, 22_340, 10_700, 4868),
        "syr2": (34_075, 23_744, 12_160, 6344, 3430),
        "symv": (34_075, 23_744, 12_160, 6344, 3430),
    },
    5000: {
        "axpy": (253_234, 202_496, 202_143, 151_096, 101_852),
        "copy": (592_114, 473_616, 473_466, 355_083, 240_974),
        "dot": (168_956, 135_225, 135_148, 101_210, 68_557),
        "nrm2": (339_164, 271_524, 272_314, 205_489, 141_108),
        "scal": (422_758, 338_258, 338_387, 253_838, 172_404),
        "gemv": (168_656, 134_741, 134_164, 99_767, 66_602),
        "ger": (168_726, 134_692, 134_118, 99_738, 66_586),
        "syr2": (84_534, 67_806, 68_025, 51_341, 35_261),
        "symv": (84_680, 67_806, 68_052, 51_341, 35_256),
    },
}
"""Calls of cuBLAS kernels by order, routine and `BANDWIDTHS` (Riesinger 2017, table 6.2).

Some routines, like nrm2, are two kernels. `studies/sbth/counts.py` compares the calls with the
block pairs of algorithm 1."""

BANDWIDTHS = (16, 32, 64, 128, 256)

REDUCTION_SECONDS = {
    "ELPA, two steps, 256 Power6 cores": 72.1,
    "ELPA, two steps, 128 Power6 cores": 86.1,
    "ELPA, two steps, 64 Power6 cores": 139.4,
    "ELPA, two steps, 32 Power6 cores": 261.5,
    "ELPA, one step, 256 Power6 cores": 345.7,
    "ELPA, one step, 128 Power6 cores": 382.1,
    "ELPA, one step, 64 Power6 cores": 683.8,
    "ELPA, one step, 32 Power6 cores": 1431.0,
    "Riesinger 2017, one step, cuBLAS, P100": 41.1,
    "Riesinger 2017, one step, cuBLAS, K20x": 96.5,
    "Riesinger 2017, one step, cuBLAS, GTX 750 Ti": 104.3,
    "Riesinger 2017, one step, MAGMA, P100": 77.1,
    "Riesinger 2017, one step, MAGMA, GTX 750 Ti": 162.3,
    "Riesinger 2017, one step, MAGMA, K20x": 166.8,
    "Riesinger 2017, one step, clBLAS, FirePro W8000": 262.5,
    "Riesinger 2017, one step, clBLAS, Radeon HD 8670": 400.0,
}
"""Seconds for n = 79872, d = 576 (Riesinger 2017, table 6.3), reduction only.

`studies/sbth/counts.py` shows what one step would take at the peak rates of these GPUs."""

ZIGGURATS = {
    2: (1.329233128110321, 7.79778003262392e-1, 35.23, 99.9),
    4: (1.914928263803744, 3.75675842164767e-1, 56.22, 99.9),
    8: (2.338371698247252, 1.76173640118777e-1, 72.80, 99.9),
    16: (2.675536765737614, 8.39894637478272e-2, 84.02, 99.6),
    32: (2.961300121264019, 4.07587444322199e-2, 90.93, 95.2),
    64: (3.213657627158896, 2.00244571573516e-2, 94.96, 80.9),
    128: (3.442619855896652, 9.91256303533647e-3, 97.24, 59.2),
    256: (3.654152885361008, 4.92867323397466e-3, 98.51, 38.2),
    512: (3.852046150368391, 2.45676635154135e-3, 99.20, 22.7),
    1024: (4.038849846109505, 1.22632464635308e-3, 99.57, 12.9),
    2048: (4.216370409511898, 6.12606517624044e-4, 99.77, 7.1),
    4096: (4.385945034871305, 3.06154103278463e-4, 99.88, 3.8),
    8192: (4.548600609949139, 1.53037234946299e-4, 99.94, 1.9),
}
"""r, v, and likelihoods in % of the fast path and of a warp's divergence by the number of strips
(Riesinger 2017, tables 8.1 and 8.2)."""

PEAK_SHARES = {
    "Ziggurat, local memory": (0.02, 0.02, 0.38),
    "Ziggurat, shared memory": (0.04, 0.02, 0.58),
    "rational functions, branches": (0.29, 0.08, 1.65),
    "rational functions, blending": (0.88, 0.26, 17.87),
    "Wallace, no treatment": (0.50, 0.13, 1.44),
    "Wallace, local memory": (0.06, 0.01, 0.42),
    "Wallace, shared memory": (0.23, 0.04, 0.70),
}
"""% of the peak rate of float32 operations, on `GPUS` (Riesinger 2017, table 8.3)."""

MEASURED_OCCUPANCIES = {
    ("Ziggurat, shared memory", "float32"): 0.15,
    ("process", "float32"): 0.49,
    ("single averages", "float32"): 1.0,
    ("averages of the 3-RODE-Taylor scheme", "float32"): 0.87,
    ("averages of the 3-RODE-Taylor scheme", "float64"): 0.56,
}
"""Occupancies on the K40m by NVIDIA's profiler; of the process its first kernel (Riesinger 2017,
table 12.2)."""

PART_SHARES = {
    ("Ziggurat, shared memory", "float32"): 0.02,
    ("process", "float32"): 0.03,
    ("process", "float64"): 0.06,
    ("single averages", "float32"): 0.06,
    ("single averages", "float64"): 0.10,
    ("averages of the 3-RODE-Taylor scheme", "float32"): 0.31,
    ("averages of the 3-RODE-Taylor scheme", "float64"): 0.69,
}
"""% of the peak rate on the K40m; of the process its first kernel (Riesinger 2017, table 12.2)."""

SETUP_MILLISECONDS = {
    "Ziggurat, local memory": (24.063, 61.889, 52.176),
    "Ziggurat, shared memory": (24.042, 26.801, 34.417),
    "rational functions": (22.089, 18.332, 31.631),
    "Wallace, local memory": (3617.30, 3193.11, 1311.23),
    "Wallace, shared memory": (3619.79, 4015.01, 2841.78),
}
"""Setup in ms on `GPUS` (Riesinger 2017, table 8.4)."""

GPUS = ("Tesla M2090", "Tesla K40m", "GTX 750 Ti")

PATH_SECONDS = {
    ("averaged-euler", "JuDGE and Hydra"): 2**4,
    ("averaged-euler", "TSUBAME2.5"): 2**9,
    ("3-rode-taylor", "JuDGE and Hydra"): 2**7,
    ("3-rode-taylor", "TSUBAME2.5"): 2**9,
}
"""Simulated seconds of each path, by scheme and cluster (Riesinger 2017, table 12.3)."""

PATH_EFFICIENCIES = {
    "JuDGE, 232 GPUs": (59.6, 70.6, 88.5, 59.6),
    "Hydra, 232 GPUs": (98.7, 99.3, 81.0, 99.2),
    "TSUBAME2.5, 213 GPUs": (94.4, 96.4, 95.2, 98.2),
    "TSUBAME2.5, 1248 GPUs": (42.9, 60.9, 80.5, 79.5),
}
"""Parallel efficiencies in %, of averaged Euler and 3-RODE-Taylor in float32 and float64 each
(Riesinger 2017, table 12.4)."""

HYBRID_GAINS = {
    "Hydra, K20x and E5-2680v2, 20 % on the CPU": (16.22, 23.91, 483.74),
    "TSUBAME2.5, K20x and X5670, 5 % on the CPU": (1.17, 12.82, 1437.62),
    "Piz Daint, P100 and E5-2690v3, 9 % on the CPU": (4.74, 9.45, 962.85),
}
"""Gains in % over the GPU alone, by bandwidths, and over the CPU alone (Riesinger 2017, table
16.1), for 512 x 512 x 128 cells in float64."""

FLOW_EFFICIENCIES = {
    ("Hydra", "GPUs"): (30.2, 99.6, 76.2, 16.9),
    ("Hydra", "CPUs"): (51.5, 98.3, 89.7, 42.9),
    ("Hydra", "GPUs and CPUs"): (26.3, 97.3, 60.2, 15.4),
    ("TSUBAME2.5", "GPUs"): (5.1, 83.0, 64.8, 4.8),
    ("TSUBAME2.5", "CPUs"): (71.0, 92.5, 98.8, 41.9),
    ("TSUBAME2.5", "GPUs and CPUs"): (12.1, 84.4, 62.9, 4.8),
    ("Piz Daint", "GPUs"): (37.6, 91.4, 54.8, 17.7),
    ("Piz Daint", "CPUs"): (58.7, 99.9, 90.8, 49.5),
    ("Piz Daint", "GPUs and CPUs"): (36.6, 90.6, 53.5, 17.6),
}
"""Efficiencies in % of the largest weak scalings across x, y, z and all axes (Riesinger 2017, table
16.2)."""
