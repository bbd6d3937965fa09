"""What exists outside because of us, and which effects are pending. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workflows.planning.things import Spec

THERE = "there"  # exists, as ``spec`` says
THEIRS = "theirs"  # a person changed it by hand; we do not fight that
GONE = "gone"  # a person removed it; we do not fight that
PUT_OUT = "put-out"  # was in a channel that the vendor emptied: they did not leave, and join again
REFUSED = "refused"  # the vendor refuses it; not tried again
# In the spec of something that may have been undone by now: it matches nothing wanted, so it is done once more.
UNSETTLED = "unsettled"
# Likewise for something that, after a restore, may show what was lost: it is shown once more, unless it was removed
# since.
FORGOTTEN = "forgotten"
SHOWN = "shown"  # the state in between: it was shown, and is shown once more when nothing can undo it any longer
# Why a channel is gone: the vendor said so, or shows us none with that id, or it is in a workspace that is not
# connected now. The last also applies to our messages outside the incident's channels.
DELETED, UNSEEN, ELSEWHERE = "deleted", "unseen", "elsewhere"
OUTSIDE = "outside"  # said of a channel that exists and that people removed us from
IN_WORKSPACE = f"{ELSEWHERE} "  # plus the id: error code of a message that may exist in a workspace no longer connected

# Kinds that say something to their readers, plus the channel, whose name carries a codename.
WORDS = frozenset({"post", "topic", "picture", "ticket", "channel"})


@dataclass(frozen=True, slots=True)
class ObservedThing:
    """One thing as we last knew it."""

    kind: str
    spec: Spec
    state: str = THERE
    room: int | None = None
    label: str = ""
    why: str = ""  # the vendor's refusal, how it is known to be gone, or that we are outside


@dataclass(frozen=True, slots=True)
class Owed:
    """An effect that is not done yet: ``verb`` is create, change or retire; ``spec`` is None for the last.

    ``needs`` are the keys of things that it waits for. ``doubted`` says that it failed but may have been done: its
    words may exist outside, and no search has settled it. ``unfound`` says that looking for them failed as well, or is
    not possible now. ``sought`` says that it was given up before anyone knew whether it was done, so it is only
    looked for.
    """

    effect: str
    verb: str
    spec: Spec | None
    started: bool
    room: int | None = None
    failed: bool = False
    needs: tuple[str, ...] = ()
    doubted: bool = False
    unfound: bool = False
    sought: bool = False

    @property
    def under_way(self) -> bool:
        """Whether it may be happening right now, so that it can no longer be called off."""
        return self.started and not self.failed


@dataclass(frozen=True, slots=True)
class Observed:
    """Things by key; owed effects by the key of their thing, oldest first; how many effects each thing ever had."""

    seen: Mapping[str, ObservedThing] = field(default_factory=dict)
    owed: Mapping[str, tuple[Owed, ...]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    def rooms_closed(self) -> frozenset[int]:
        """Rooms that are archived or gone: nothing in them can be changed."""
        return self._rooms(("archived", THERE)) | self.rooms_gone()

    def rooms_gone(self) -> frozenset[int]:
        """Rooms that no longer exist for us: nothing in them can be looked for either."""
        return self._rooms(("channel", GONE))

    def _rooms(self, end: tuple[str, str]) -> frozenset[int]:
        seen = (one for one in self.seen.values() if (one.kind, one.state) == end)
        return frozenset(one.room for one in seen if one.room is not None)
