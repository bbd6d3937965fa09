"""A claimed effect as its performer receives it, and its outcome."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.crypto import salted_hmac

from workflows.effects import restoring
from workflows.models import Effect, Resource
from workflows.planning.observed import THERE

WAITED_S = 0.5  # older claims are checked again before a vendor is called


class Elsewhere(Exception):
    """The effect's resource is in a project or workspace that is no longer connected, and no other is asked for it."""


@dataclass(frozen=True, slots=True)
class Work:
    """A claimed effect with what its performer needs: the vendor's ids of its resources.

    ``claimed_s`` is when it was claimed, by a monotonic clock.
    """

    effect: Effect
    external: dict[str, dict[str, Any]]
    claimed_s: float = field(default_factory=lambda: time.monotonic(), compare=False)  # noqa: PLW0108 (tests set the clock)

    @property
    def unsure(self) -> bool:
        """Whether an earlier try may have done it without recording that."""
        return self.effect.unsure

    @property
    def waited(self) -> bool:
        """Whether it had to wait for a thread after it was claimed."""
        return time.monotonic() - self.claimed_s >= WAITED_S

    @property
    def mark(self) -> str:
        """The opaque mark by which this effect's message is found again; it tells others nothing.

        It is stored with the effect, because settings such as ``SECRET_KEY`` may change before it is looked for.
        """
        return self.effect.mark or self._older_mark

    @property
    def marks(self) -> tuple[str, ...]:
        """The marks that it may carry: processes of an older version store none during an upgrade."""
        return tuple(dict.fromkeys((self.mark, self._older_mark)))

    @property
    def lost_until(self) -> datetime | None:
        """Until when it may have been done in the period that a restore lost; None once that was looked for."""
        untried = self.unsure and self.effect.tried_at is None
        return restoring.put_back_at(self.effect.begun_at) if untried else None

    @property
    def _older_mark(self) -> str:
        return salted_hmac("workflows.mark", str(self.effect.pk)).hexdigest()[:24]

    def channel_id(self, room: int) -> str:
        """Return the vendor's id of a room's channel."""
        return str(self.external[f"channel/{room}"]["id"])


@dataclass(slots=True)
class Outcome:
    """The result of an effect: things that exist now, things that are gone, and a sentence for the timeline.

    ``kind`` is the entry's kind, which decides whether it is also posted in the channel. ``data`` goes into the entry;
    ``at`` is when it happened, if that differs from when it was recorded. ``also`` is called with the moment to write
    what else follows, in the same transaction and with the incident held. ``again_at`` is when to repeat the effect.
    """

    there: list[Resource] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    says: str = ""
    kind: str = "did"
    data: dict[str, Any] = field(default_factory=dict)
    at: datetime | None = None
    also: Callable[[datetime], None] | None = None
    again_at: datetime | None = None


def made(
    work: Work, *, external: dict[str, Any], external_id: str = "", spec: dict[str, Any] | None = None
) -> Resource:
    """Return the one resource of an effect as it exists now."""
    effect = work.effect
    return Resource(
        key=effect.thing,
        kind=effect.kind,
        room=effect.room,
        label=effect.labels.get(effect.thing, ""),
        spec=effect.spec if spec is None else spec,
        external=external,
        external_id=external_id,
        state=THERE,
    )
