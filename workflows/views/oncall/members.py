"""Who may see what is not about one incident: members of the workspace, but not guests."""

from __future__ import annotations

from django.http import Http404

from incidents.models import Person


def member_or_404(person: Person) -> Person:
    """Return a member of the workspace. Guests, bots and people from other workspaces see only what they take part in.

    For them a page about everyone does not exist, hence ``Http404``.
    """
    if not person.can_join:
        raise Http404("No such page.")
    return person
