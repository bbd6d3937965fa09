"""Whether the documentation builds as a site, where the tools for it are installed."""

from collections.abc import Mapping

from stack.checks.verdict import CheckVerdict
from stack.documentation import building


def built(env: Mapping[str, str]) -> CheckVerdict:
    """Build it and throw it away; say so where the tools are not here."""
    if not building.installed():
        return CheckVerdict(True, skipped=building.MISSING)
    said = building.wrong()
    return CheckVerdict(not said, said)
