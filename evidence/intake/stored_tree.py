"""Open the stored tree of a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evidence.intake import storage
from evidence.intake.storage import StorageError
from evidence.profile.errors import Unreadable

if TYPE_CHECKING:
    from evidence.tree.calltree import CallTree

DAMAGED: Final = "What was read of this file is damaged in the evidence storage."


def opened(key: str) -> CallTree:
    """Return a tree, mapped into memory, whatever its size.

    Raises ``StorageError``, also if the stored tree is damaged.
    """
    from evidence.tree.calltree import CallTree  # imports numpy: only once a profile is opened

    path = storage.store().local(key)
    try:
        with storage.usable():
            return CallTree.open(path)
    except (ValueError, KeyError, Unreadable) as error:
        storage.store().distrust(key)
        raise StorageError(f"{key} is damaged in the evidence storage.", says=DAMAGED) from error
