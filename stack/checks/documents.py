"""Whether the documentation builds as a site, if the tools are installed, and its pictures are up to date."""

from collections.abc import Mapping

from stack.checks.verdict import CheckVerdict
from stack.documentation import building, stale_pictures


def built(env: Mapping[str, str]) -> CheckVerdict:
    """Build it and discard it; say so if the tools are missing."""
    if not building.installed():
        return CheckVerdict(True, skipped=building.MISSING)
    said = building.wrong()
    return CheckVerdict(not said, said)


def pictures(env: Mapping[str, str]) -> CheckVerdict:
    """Report which pictures are stale. That fails a release but not a check, because a new set is megabytes."""
    return CheckVerdict(True, soon="\n".join(stale_pictures.stale()))
