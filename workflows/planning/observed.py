"""What exists outside because of us, and which effects are pending. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workflows.planning.things import Spec

THERE = "there"  # exists, as ``spec`` says
THEIRS = "theirs"  # a person changed it by hand: not fought
GONE = "gone"  # a person took it away: not fought
PUT_OUT = "put-out"  # of someone who was in a channel, which the vendor emptied: nobody left, and they come in again
REFUSED = "refused"  # the vendor will not have it: not asked again
# In the spec of what may have been undone by now: so it is like nothing that is wanted, until it is done once more.
UNSETTLED = "unsettled"
# The same of what may say, after a restore, what was forgotten: it is said once more, unless it was taken away since.
FORGOTTEN = "forgotten"
SHOWN = "shown"  # how far that has come: it was said, and is said once more when nothing can undo it any longer
# Why a channel is gone: the vendor told of it, or shows us none of that id, or it is in a workspace that is not
# connected now. The last is said of our messages outside channels of the incident, too.
DELETED, UNSEEN, ELSEWHERE = "deleted", "unseen", "elsewhere"
OUTSIDE = "outside"  # said of a channel that is there, and that people removed us from
IN_WORKSPACE = f"{ELSEWHERE} "  # and its id: the error code of what may have been said in one not connected any more


@dataclass(frozen=True, slots=True)
class ObservedThing:
    """One thing as we last knew it."""

    kind: str
    spec: Spec
    state: str = THERE
    room: int | None = None
    label: str = ""
    why: str = ""  # what the vendor said where it refused, how it is known to be gone, or that we are outside


@dataclass(frozen=True, slots=True)
class Owed:
    """An effect that is not done yet: ``verb`` is create, change or retire; ``spec`` is None for the last.

    ``needs`` are the keys of things that it waits for. ``doubted`` says that it failed, and may have been done all the
    same: words that may stand outside, and that nobody has looked for to the end. ``unfound`` says that looking for
    them failed as well, or is not possible now. ``sought`` says that it was given up before anyone knew whether it was
    done, so it is only looked for.
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
        """Whether it may be happening right now, so that it can no longer be called back."""
        return self.started and not self.failed


@dataclass(frozen=True, slots=True)
class Observed:
    """Things by key; owed effects by the key of their thing, oldest first; how many effects each thing ever had."""

    seen: Mapping[str, ObservedThing] = field(default_factory=dict)
    owed: Mapping[str, tuple[Owed, ...]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    def rooms_closed(self) -> frozenset[int]:
        """Rooms that are archived or gone: nothing in them can be changed."""
        ends = {("archived", THERE), ("channel", GONE)}
        return frozenset(
            seen.room for seen in self.seen.values() if (seen.kind, seen.state) in ends and seen.room is not None
        )
