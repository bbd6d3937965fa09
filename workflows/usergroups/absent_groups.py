"""Why a user group does not exist: it is disabled, or the workspace can have none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workflows.chat_port import WITHOUT_GROUPS, Chat, UserGroup
from workflows.models import DirectoryRead
from workflows.planning.things import DISABLED, GROUPLESS
from workflows.ports import VendorError


@dataclass(frozen=True, slots=True)
class ReadGroups:
    """The groups that are in use, the handles of disabled ones, and whether the workspace can have none."""

    in_use: tuple[UserGroup, ...] = ()
    disabled: tuple[str, ...] = ()
    groupless: bool = False


def read(chat: Chat) -> ReadGroups:
    """Read the workspace's groups. Raises ``VendorError``, unless it only says that there can be none."""
    try:
        found = chat.groups()
    except VendorError as error:
        if error.code not in WITHOUT_GROUPS:
            raise
        return ReadGroups(groupless=True)
    in_use, disabled = ([one for one in found if one.disabled is off] for off in (False, True))
    return ReadGroups(tuple(in_use), tuple(sorted(one.handle for one in disabled)))


def why(groups: Mapping[str, object]) -> Mapping[str, str]:
    """Return why groups that are None do not exist, by handle, where that is known. No query if none is None."""
    absent = [handle for handle, members in groups.items() if members is None]
    known = DirectoryRead.objects.first() if absent else None
    if known is None:
        return {}
    if known.groupless:
        return dict.fromkeys(absent, GROUPLESS)
    return {handle: DISABLED for handle in absent if handle in known.disabled}
