"""The numbered tables and figures of the documents that the packages implement.

`RESULTS` lists them all, `find` looks one up by its number, and `studies.papers.page` writes
docs/papers.md from them. Drawings of algorithms and data sheets of hardware are left out.
"""

from __future__ import annotations

from studies.papers.hard_cases import HARD_CASES
from studies.papers.libstable import LIBSTABLE
from studies.papers.log_normal import LOG_NORMAL
from studies.papers.result import NumberedResult
from studies.papers.stable_on_gpus import STABLE_ON_GPUS
from studies.papers.thesis_eigenvalues import THESIS_EIGENVALUES
from studies.papers.thesis_flows import THESIS_FLOWS
from studies.papers.thesis_random_equations import THESIS_RANDOM_EQUATIONS

DOCUMENTS = {
    "gpu-stable": "Julián-Moreno et al. (2016), alpha-stable distributions on GPUs",
    "libstable": "Royuela-del-Val et al. (2017), libstable",
    "hard-cases": "Fortin, Gouicem and Graillat (2016), correctly rounded functions on GPUs",
    "thesis": "Riesinger (2017), applications for systems with GPUs",
    "log-ndtr": "Singh (2022), log_ndtr in CuPy",
}
"""The documents by their keys, which begin the names of results."""

RESULTS: tuple[NumberedResult, ...] = (
    *STABLE_ON_GPUS,
    *LIBSTABLE,
    *HARD_CASES,
    *THESIS_EIGENVALUES,
    *THESIS_RANDOM_EQUATIONS,
    *THESIS_FLOWS,
    *LOG_NORMAL,
)


def find(text: str) -> list[NumberedResult]:
    """Return the results that a text names.

    "thesis table 6.3" names one; "table 6.3" names those of all documents. An empty list says that
    there is none.
    """
    words = text.lower().split()
    return [result for result in RESULTS if _is_named(result, words)]


def _is_named(result: NumberedResult, words: list[str]) -> bool:
    key = result.key.split()
    return words == key or words == key[1:]
