"""Where an audit's scores are from, for a bibliography."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unmix.audit.report import AuditReport

ENTRIES = {
    "unmix": """@software{{unmix,
  title = {{unmix: identifiable representation learning}},
  version = {{{version}}}
}}""",
    "zimmermann2021": """@inproceedings{{zimmermann2021contrastive,
  title = {{Contrastive Learning Inverts the Data Generating Process}},
  author = {{Zimmermann, Roland S. and Sharma, Yash and Schneider, Steffen and Bethge, Matthias and Brendel, Wieland}},
  booktitle = {{International Conference on Machine Learning}},
  year = {{2021}}
}}""",
    "hyvarinen2016": """@inproceedings{{hyvarinen2016unsupervised,
  title = {{Unsupervised Feature Extraction by Time-Contrastive Learning and Nonlinear ICA}},
  author = {{Hyv{{\\"a}}rinen, Aapo and Morioka, Hiroshi}},
  booktitle = {{Advances in Neural Information Processing Systems}},
  year = {{2016}}
}}""",
    "brodersen2010": """@inproceedings{{brodersen2010balanced,
  title = {{The Balanced Accuracy and Its Posterior Distribution}},
  author = {{Brodersen, Kay H. and Ong, Cheng Soon and Stephan, Klaas E. and Buhmann, Joachim M.}},
  booktitle = {{International Conference on Pattern Recognition}},
  year = {{2010}}
}}""",
    "friedman2001": """@article{{friedman2001greedy,
  title = {{Greedy Function Approximation: A Gradient Boosting Machine}},
  author = {{Friedman, Jerome H.}},
  journal = {{Annals of Statistics}},
  year = {{2001}}
}}""",
    "eastwood2018": """@inproceedings{{eastwood2018framework,
  title = {{A Framework for the Quantitative Evaluation of Disentangled Representations}},
  author = {{Eastwood, Cian and Williams, Christopher K. I.}},
  booktitle = {{International Conference on Learning Representations}},
  year = {{2018}}
}}""",
}


def bibtex(report: AuditReport) -> str:
    """The entries of the scores that the report has."""
    used = ["unmix"]
    if any(not f.levels for f in report.findings):
        used.append("zimmermann2021")
    if report.whole is not None:
        used.append("hyvarinen2016")
    if any(f.levels for f in report.findings):
        used.append("brodersen2010")
    if report.dci is not None:
        used += ["friedman2001", "eastwood2018"]
    return "\n\n".join(ENTRIES[key].format(version=version("unmix")) for key in used) + "\n"
