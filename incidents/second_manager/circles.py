"""Private incidents are closed: which changes could let people in, and notifying those inside.

The checks here look at types and never at incidents, so that no answer reveals whether there is a private one.
"""

from __future__ import annotations

from datetime import datetime

from incidents.models import Notice, Person, PolicyVersion

SAYS_CHARS = 600
ALONE = "This alone does not bring anyone in."


def there_are() -> bool:
    """Return whether any type is private, or ever was."""
    return PolicyVersion.objects.filter(body__private=True).exists()


def bring_in(handle: str) -> bool:
    """Return whether a private incident may bring a group in: whether any version of any type names it.

    A private incident keeps the version it took, and may be retyped to a public type. Checking which incidents actually
    name the group would reveal that there are some.
    """
    versions = PolicyVersion.objects.all() if there_are() else PolicyVersion.objects.none()
    return any(handle in version.policy.groups for version in versions)


def announce(to: str, *, by: Person | None, about: str, says: str, agreed: str = "", at: datetime) -> None:
    """Have those inside notified that someone changed what may bring people in; ``notices.carry`` delivers it.

    In the change's own transaction. ``to`` is as in ``Notice``; the text must not be about a single incident.
    """
    who = by.name if by is not None else "The operator"
    short = says if len(says) <= SAYS_CHARS else f"{says[: SAYS_CHARS - 1]}…"
    words = [f"{who} changed {about}: {short}.", agreed, ALONE]
    Notice.objects.create(to=to, says=" ".join(filter(None, words)), at=at)
