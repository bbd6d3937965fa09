"""Whether the documentation builds as a site, where the tools for it are installed, and shows what is so."""

from collections.abc import Mapping

from stack.checks.verdict import CheckVerdict
from stack.documentation import building, stale_pictures


def built(env: Mapping[str, str]) -> CheckVerdict:
    """Build it and throw it away; say so where the tools are not here."""
    if not building.installed():
        return CheckVerdict(True, skipped=building.MISSING)
    said = building.wrong()
    return CheckVerdict(not said, said)


def pictures(env: Mapping[str, str]) -> CheckVerdict:
    """Say which pictures are stale. A release fails by that, and no check: a new set is megabytes."""
    return CheckVerdict(True, soon="\n".join(stale_pictures.stale()))
