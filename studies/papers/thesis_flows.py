"""Tables and figures of Riesinger (2017), part IV: lattice Boltzmann flows."""

from collections.abc import Iterator

from studies.papers.printed import FLOW_EFFICIENCIES, HYBRID_GAINS
from studies.papers.result import Cell, Figure, NumberedResult, Value, if_recorded

DOCUMENT = "thesis"
SUITE = "lbm/lbm-cuda.json"
BLOCKS = "studies/lbm-blocks-cuda.json"
HYBRID = "studies/lbm-hybrid-cuda.json"
WEAK = "studies/lbm-weak-cuda.json"
STRONG = "studies/lbm-strong-cuda.json"
GAIN = "Gain of the CPU beside a GPU"
DOMAIN = "[512, 512, 128]"
CAVITY = "studies/lbm-cavity-cuda.json"
P100 = "Tesla P100"
GAINS = ("gain over the GPU alone", "gain by bandwidth", "gain over the CPU alone")
AXES = ("across x", "across y", "across z", "across all axes")
P100_AND_CPU = "P100 and Xeon E5-2690v3"

CLUSTERS = "studies/lbm-clusters-cpu.json"
CUBOIDS = "studies/lbm-cuboids-cuda.json"
TWO_GPUS = "The record has the GPUs of one host, and the model's predictions. More need a cluster."
ON_PAPER = (
    f"{TWO_GPUS} `studies run lbm-clusters` predicts the scalings of the three clusters on paper, "
    "where every message is hidden."
)


def _scaling(
    number: str,
    place: str,
    subject: str,
    study: str,
    record: str,
    values: tuple[Value, ...] = (),
) -> NumberedResult:
    return NumberedResult(
        *(DOCUMENT, number, place, subject, study),
        records=(record,),
        values=(*values, *_measured_here(number, record)),
        remark=TWO_GPUS,
    )


MEASURED_HERE = {
    "figure 16.5": ("GLUPS", "512x512x128", "float64", ("2x1x1", "4x1x1", "1x2x1", "1x4x1")),
    "figure 16.6": ("GLUPS", "512x512x128", "float64", ("1x1x2", "1x1x4", "1x2x2")),
    "figure 16.7": ("efficiency", "512x512x128", "float64", ("2x1x1", "4x1x1", "1x2x1", "1x4x1")),
    "figure 16.8": ("efficiency", "512x512x128", "float64", ("1x1x2", "1x1x4", "1x2x2")),
    "figure 16.9": ("GLUPS", "512x512x128", "float64", ("1x1x2", "1x1x4", "1x2x2")),
    "figure 16.10": ("efficiency", "512x512x128", "float64", ("1x1x2", "1x1x4", "1x2x2")),
    "figure 16.11": ("GLUPS", "512x512x512", "float32", ("1x1x2", "1x1x4", "1x2x2")),
    "figure 16.12": ("efficiency", "512x512x512", "float32", ("1x1x2", "1x1x4", "1x2x2")),
}
"""Columns of our records, boxes or domains, and grids of ranks with a GPU each, by figure."""


def _measured_here(number: str, record: str) -> Iterator[Value]:
    """Yield the values of a figure on the GPUs of one host, as far as they have been recorded."""
    column, cells, dtype, grids = MEASURED_HERE[number]
    title = "Weak scaling" if record == WEAK else "Strong scaling"
    for grid in grids:
        row = (cells, dtype, "esoteric", "ranks", grid)
        if source := if_recorded(Cell(record, title, row, column)):
            name = f"{grid} GPUs of one host, {cells.replace('x', ' x ')}, {dtype}"
            if column == "GLUPS":
                yield Value(name, None, "GLUPS", "", source)
            else:
                yield Value(name, None, "%", "", source, factor=100)


def _of_two(column: str) -> Cell:
    """Return a cell of the weak scaling across y on two GPUs."""
    row = ("512x512x128", "float64", "esoteric", "ranks", "1x2x1")
    return Cell(WEAK, "Weak scaling", row, column)


def _rates_of_a_gpu(
    dtype: str, name: str, shape: str, threads: str, rate: float, share: float
) -> tuple[Value, Value]:
    """Return a rate of a domain and its share of the bandwidth; `threads` are those of ours."""
    row = (shape, dtype, threads)
    return (
        Value(
            *(f"{dtype}, {name}", rate, "GLUPS", P100),
            Cell(BLOCKS, "Rate over block size", row, "GLUPS"),
        ),
        Value(
            *(f"share of the bandwidth, {dtype}, {name}", share, "%", f"{P100}, data sheet"),
            Cell(BLOCKS, "Rate over block size", row, "share of copy bandwidth"),
            factor=100,
            differs="of a copy",
        ),
    )


def _efficiency(across: str, hardware: str, published: float | None) -> Value:
    row = ("512x512x128", "float64", "esoteric", "ranks", across)
    return Value(
        *(f"boxes {across}", published, "%", hardware),
        Cell(WEAK, "Weak scaling", row, "efficiency"),
        factor=100,
    )


THESIS_FLOWS = (
    NumberedResult(
        *(DOCUMENT, "figure 16.1", "p. 159"),
        "a cavity at Reynolds number 1000, 384^3 cells",
        "lbm-cavity",
        records=(CAVITY,),
        values=(
            Value(
                *("lowest u on the centre line after 12 s, 192^3 cells", None, "of the lid's", ""),
                Cell(CAVITY, "Cavity at Re = 1000", ("12",), "lowest u on the centre line"),
            ),
        ),
        remark=(
            "A picture without printed numbers; the steady flow has -0.2729 (Albensoeder and "
            "Kuhlmann 2005). The study draws the same three times in one box. With `--size 384` it "
            "has as many cells, two minutes on an H200."
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "figure 16.2", "p. 160; numbers p. 161-162"),
        "rate of a GPU over launch shapes and domains",
        "lbm-blocks",
        records=(BLOCKS, SUITE),
        values=(
            *_rates_of_a_gpu("float32", "256^3", "[256, 256, 256]", "256", 2.96, 64.2),
            *_rates_of_a_gpu("float64", "512 x 512 x 128", DOMAIN, "128", 1.58, 67.7),
            Value(
                *("512^3, float32, with two copies of the populations", None, "GLUPS", ""),
                Figure(SUITE, "cavity 512^3, float32, ab"),
            ),
        ),
        remark=(
            "In place and in the fastest launch shape on both sides. Their shares are of the data "
            "sheet's bandwidth, ours of a copy's. The conclusion of part IV has the 1.58 GLUPS at "
            "256^3, section 16.1 at 512 x 512 x 128."
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "figure 16.3", "p. 161"),
        "rate of a CPU over blocks and domains",
        "benchmark lbm",
        records=("lbm/lbm-cpu.json",),
        values=tuple(
            Value(
                *(f"{dtype}, 384^3", rate, "GLUPS", "Xeon E5-2690v3, 12 cores"),
                Figure("lbm/lbm-cpu.json", f"cavity 128^3, {dtype}, esoteric"),
                differs="128^3, two cores",
            )
            for dtype, rate in (("float32", 0.21), ("float64", 0.17))
        ),
        remark=(
            "Theirs are the highest rates, 48.9 and 74.1 % of the data sheet's bandwidth. Our "
            "loops have no blocks: rows along x are swept whole."
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "figure 16.4", "p. 163; numbers p. 163-164"),
        "rate over the CPU's share of the domain",
        "lbm-hybrid",
        records=(HYBRID,),
        values=(
            *(
                Value(
                    *(f"gain over the GPU alone, {dtype}, {name}", gain, "%", P100_AND_CPU),
                    Cell(HYBRID, GAIN, (shape, dtype), "gain over the GPU alone"),
                    factor=100,
                )
                for dtype, name, shape, gain in (
                    ("float64", "256^3", "[256, 256, 256]", 1.59),
                    ("float64", "384^3", "[384, 384, 384]", 3.49),
                    ("float64", "512 x 512 x 128", DOMAIN, 4.74),
                    ("float32", "384^3", "[384, 384, 384]", -0.17),
                    ("float32", "512 x 512 x 128", DOMAIN, -0.48),
                )
            ),
        ),
        remark=(
            "Published: the numbers in the text of section 16.1, in float32 99.83 and 99.52 % of "
            "the GPU's rate."
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "table 16.1", "p. 164", "gain of a CPU beside a GPU, float64", "lbm-hybrid"),
        records=(HYBRID,),
        values=(
            *(
                Value(
                    *(column, gain, "%", machine),
                    Cell(HYBRID, GAIN, (DOMAIN, "float64"), column) if "P100" in machine else None,
                    factor=100,
                )
                for machine, row in HYBRID_GAINS.items()
                for column, gain in zip(GAINS, row, strict=True)
            ),
            Value(
                *(
                    "part of the gain by bandwidth that is reached (conclusion)",
                    67.84,
                    "%",
                    "Hydra",
                ),
                Cell(HYBRID, GAIN, (DOMAIN, "float64"), GAINS[0]),
                over=Cell(HYBRID, GAIN, (DOMAIN, "float64"), GAINS[1]),
                factor=100,
                differs="on the machine of the rows above",
            ),
        ),
        remark="Ours, on an H200 with 16 cores beside it, stands beside the P100's.",
    ),
    NumberedResult(
        *(DOCUMENT, "table 16.2", "p. 165", "efficiencies of the largest weak scalings"),
        "lbm-weak",
        records=(WEAK, CLUSTERS),
        values=(
            _efficiency("1x2x1", "", None),
            *(
                Value(f"{processors}, {axes}", efficiency, "%", cluster)
                for (cluster, processors), row in FLOW_EFFICIENCIES.items()
                for axes, efficiency in zip(AXES, row, strict=True)
            ),
        ),
        remark=ON_PAPER,
    ),
    _scaling(
        *("figure 16.5", "p. 166; numbers p. 177", "weak scaling across x and y, rates"),
        *("lbm-weak", WEAK),
        values=(
            Value(
                *("across y, 95 % / 5 % of the cells on GPUs and CPUs", 2604.72, "GLUPS"),
                "Piz Daint, 2048 nodes",
                _of_two("GLUPS"),
                differs="two GPUs alone",
            ),
            Value(
                *("gain of 15 % on the CPUs over the GPUs alone, across y", 12.85, "%"),
                "Hydra, 512 nodes",
            ),
        ),
    ),
    _scaling(
        "figure 16.6", "p. 167", "weak scaling across z and all axes, rates", "lbm-weak", WEAK
    ),
    _scaling(
        *("figure 16.7", "p. 168; numbers p. 177", "weak scaling across x and y, efficiencies"),
        *("lbm-weak", WEAK),
        values=(
            Value(
                *("across y, 95 % / 5 % of the cells on GPUs and CPUs", 90.60, "%"),
                "Piz Daint, 2048 nodes",
                _of_two("efficiency"),
                factor=100,
                differs="two GPUs alone",
            ),
        ),
    ),
    _scaling(
        "figure 16.8",
        "p. 169",
        "weak scaling across z and all axes, efficiencies",
        "lbm-weak",
        WEAK,
    ),
    _scaling(
        "figure 16.9", "p. 170", "strong scaling, 512 x 512 x 128, rates", "lbm-strong", STRONG
    ),
    _scaling(
        "figure 16.10",
        "p. 171",
        "strong scaling, 512 x 512 x 128, efficiency",
        "lbm-strong",
        STRONG,
    ),
    _scaling("figure 16.11", "p. 172", "strong scaling, 512^3, rates", "lbm-strong", STRONG),
    _scaling(
        *("figure 16.12", "p. 173; numbers p. 171", "strong scaling, 512^3, efficiencies"),
        *("lbm-strong", STRONG),
        values=(
            Value(
                *("GPUs alone, all axes", 31.09, "%", "Hydra, 512 nodes"),
                Cell(
                    *(STRONG, "Strong scaling"),
                    ("512x512x512", "float32", "esoteric", "ranks", "1x1x2"),
                    "efficiency",
                ),
                factor=100,
                differs="two GPUs, float32; theirs float64, from 4 on",
            ),
            Value("75 % / 25 % of the cells on GPUs and CPUs, all axes", 36.16, "%", "Hydra, 512"),
            Value("CPUs alone, all axes", 75.16, "%", "Hydra, 512 nodes"),
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "figure 16.13", "p. 175", "times of cuboids and of links", "lbm-cuboids"),
        records=(CUBOIDS,),
        values=(
            Value(
                *("step of 256^3 cells", None, "us", ""),
                Cell(CUBOIDS, "Cubes and their faces", ("256",), "box, us"),
            ),
            Value(
                *("cells at its face across x", None, "us", ""),
                Cell(
                    *(CUBOIDS, "Cubes and their faces", ("256",)),
                    "cells at a face across x, us",
                ),
            ),
        ),
        remark=(
            "Curves without printed numbers; the record has cubes of 32 to 384 cells, with the "
            "cells at a face and its copy in each direction."
        ),
    ),
    NumberedResult(
        *(DOCUMENT, "figure 16.14", "p. 176", "predicted and measured rates", "lbm-weak"),
        records=(WEAK, STRONG, CLUSTERS),
        values=(
            *(
                Value(what, error, "%", "Piz Daint, 90 % / 10 % of the cells on GPUs and CPUs")
                for what, error in (
                    ("largest error, weak scaling across y", 9.10),
                    ("largest error, weak scaling across all axes", 15.44),
                    ("error, 512 x 512 x 128 on 16 nodes", 17.09),
                    ("error, 512^3 on 2048 nodes", 12.82),
                )
            ),
            Value(
                *("error, 512 x 512 x 128 on two GPUs", None, "%", ""),
                Cell(
                    WEAK,
                    "Weak scaling",
                    ("512x512x128", "float64", "esoteric", "ranks", "1x1x2"),
                    "error of the prediction",
                ),
                factor=100,
                differs="GPUs alone",
            ),
        ),
        remark=ON_PAPER,
    ),
)
