"""Which service's pipeline a run belongs to, and where that takes what people are to see of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Pipeline", "pipeline_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """What the environment says of the pipeline.

    Attributes:
        annotates: Whether workflow commands on standard output become annotations: GitHub Actions, and what is made
            like it.
        step_summary: File that is shown below the run and appended to; empty where there is none.
        top: Top directory of the checkout; empty where nobody says.
    """

    annotates: bool = False
    step_summary: str = ""
    top: str = ""


def pipeline_of(environ: Mapping[str, str]) -> Pipeline:
    """Reads the pipeline from ``os.environ``; GitLab's takes files by the names that its job gives them."""
    if environ.get("GITHUB_ACTIONS", "").lower() == "true":
        return Pipeline(
            annotates=True,
            step_summary=environ.get("GITHUB_STEP_SUMMARY", ""),
            top=environ.get("GITHUB_WORKSPACE", ""),
        )
    return Pipeline(top=environ.get("CI_PROJECT_DIR", ""))
