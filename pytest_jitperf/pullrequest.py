"""Whether this runs in the pipeline of a pull request, where an update would accept what is to be judged."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["in_pull_request"]

# Set by the service for a pull request and for nothing else; where the variable is always set, its value begins so.
_PULL_REQUEST = (
    ("GITHUB_EVENT_NAME", "pull_request"),
    ("GITHUB_EVENT_NAME", "merge_group"),  # a queue of pull requests that are about to be merged
    ("CI_MERGE_REQUEST_IID", ""),
    ("CI_OPEN_MERGE_REQUESTS", ""),  # a branch's pipeline whose commits are those of a merge request
    ("CI_EXTERNAL_PULL_REQUEST_IID", ""),
    ("BUILD_REASON", "PullRequest"),
    ("SYSTEM_PULLREQUEST_PULLREQUESTID", ""),
    ("CIRCLE_PULL_REQUEST", ""),
    ("TRAVIS_PULL_REQUEST", ""),
    ("BUILDKITE_PULL_REQUEST", ""),
    ("BITBUCKET_PR_ID", ""),
    ("APPVEYOR_PULL_REQUEST_NUMBER", ""),
    ("DRONE_PULL_REQUEST", ""),
    ("CI_COMMIT_PULL_REQUEST", ""),
    ("CIRRUS_PR", ""),
    ("CODEBUILD_WEBHOOK_EVENT", "PULL_REQUEST_"),
    ("ghprbPullId", ""),
)


def in_pull_request(environ: Mapping[str, str]) -> str:
    """Whether this is the pipeline of a pull request or merge request.

    Returns:
        The variable that says so and its value, ``GITHUB_EVENT_NAME=pull_request``; empty where none does.
    """
    for name, beginning in _PULL_REQUEST:
        value = environ.get(name, "")
        if value.lower() not in ("", "false") and value.startswith(beginning):
            return f"{name}={value}"
    return ""
