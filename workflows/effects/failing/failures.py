"""Failed calls: retried later, or failed and reported until someone presses *Retry*."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import F

from incidents import lifecycle, timeline
from incidents.claiming.shared_clock import clock
from incidents.models import Event, Incident
from workflows.effects import effect_queue, lost_channels, rate_limits, restoring
from workflows.effects.failing import abandoned, left_to_people, manual_checks
from workflows.effects.work import Work
from workflows.models import Effect
from workflows.planning.actions import CHANGE, CREATE, KINDS
from workflows.planning.observed import IN_WORKSPACE
from workflows.ports import VendorError

ATTEMPTS = 12  # with the back-off below, covers about half an hour of a vendor being down
# Consecutive claims with no result recorded. A live worker renews its claim, so this many workers have died.
UNANSWERED: Final = 20
BACK_OFF_AT_MOST_S: Final = 300
UNCHECKED: Final = "Could not check whether"
# Not reported in the channel: either that is what failed, or a report adds nothing to the message there.
QUIET: Final = {
    ("channel", CREATE),
    ("post", CREATE),
    ("post", CHANGE),
    ("pin", CREATE),
    ("upload", CREATE),
    ("picture", CREATE),
}


def record_error(work: Work, error: VendorError, *, at: datetime) -> None:
    """Record that a call failed: retry it later if that may help, else mark it failed and report it.

    A rate limit stops its method for everyone but costs this effect no attempt; neither does waiting or a lost claim.
    """
    effect, limited, now = work.effect, error.retry_after is not None, clock.at(at)
    with transaction.atomic():
        timeline.hold(effect.incident_id)
        if error.retry_after is not None:
            until = now + timedelta(seconds=error.retry_after)
            rate_limits.block(KINDS[effect.kind].port, error.method, effect.method, until=until)
        attempt = effect.attempt + (0 if limited else 1)
        final = not error.retryable or attempt >= ATTEMPTS
        says = error.says if not final or left_to_people.is_followed(effect, error) else error.says_left
        if not error.unknown and not effect.unsure and abandoned.end(effect, at=at):
            return
        changed = effect_queue.CLAIMS.mine(effect).update(
            state=Effect.State.FAILED if final else Effect.State.WAITING,
            attempt=attempt,
            unanswered=0,
            unsure=effect.unsure or error.unknown,
            **_tried(effect, error),
            due_at=now + timedelta(seconds=retry_wait_s(error, attempt)),
            leased_until=None,
            ended_at=at if final else None,
            error=f"{UNCHECKED} this was done. {says}" if error.looking else says,
            error_code=error.code,
        )
        if changed and final:
            if error.code == lost_channels.OUTSIDE and effect.room is not None:
                lost_channels.note_outside(effect.incident_id, room=effect.room)
            _tell_failure(effect, error, says=says, at=at)
        elif changed:
            timeline.nudge_readers(effect.incident_id)


def _tried(effect: Effect, error: VendorError) -> dict[str, datetime | None]:
    """Return when the request was sent that may still be on its way; not this one, if its connection broke."""
    if not error.unknown or error.lingers:
        return {}
    return {"tried_at": effect.tried_at if effect.unsure else None}


def retry_wait_s(error: VendorError, attempt: int) -> float:
    """Return how many seconds an effect waits after that many attempts."""
    if error.retry_after is not None:
        return error.retry_after
    return float(min(0.5 * 2 ** min(attempt, 20), BACK_OFF_AT_MOST_S))


def leave_in_doubt(effect: Effect, error: VendorError, *, at: datetime) -> None:
    """Fail what may have been done if no one can check now, even if it is claimed; report why. Holds the incident."""
    begun = Effect.objects.filter(pk=effect.pk).exclude(state__in=[Effect.State.DONE, Effect.State.CANCELLED])
    ended = {"state": Effect.State.FAILED, "ended_at": at, "leased_until": None, "token": F("token") + 1}
    if begun.update(**ended, unsure=True, error=error.says, error_code=error.code):
        _tell_failure(effect, error, says=error.says, at=at)


def _tell_failure(effect: Effect, error: VendorError, *, says: str, at: datetime) -> None:
    """Record a final failure. For a channel, and in a private incident, say what to do about it by hand.

    If the report itself cannot be posted, that is not reported again: the page shows both.
    """
    if effect.kind == "counted" or _tells_of_failure(effect):
        timeline.nudge_readers(effect.incident_id)
        # The message may exist all the same: its channel is not archived before that has been checked.
        effect_queue.replan(effect.incident_id)
        return
    incident = Incident.objects.select_related("policy_version").get(pk=effect.incident_id)
    could_not = f"{UNCHECKED} Firekind managed to" if error.looking else "Could not"
    text = f"{could_not} {effect.sentence}: {says}"
    if effect.kind == "closed" and lifecycle.leave_room(incident, room=effect.room or 1):
        text = f"{text} The conversation moves to a new private channel instead."
    is_for_hands = incident.private or effect.kind == "channel"  # without it, no one reads about the rest in the chat
    by_hand = manual_checks.instruction(effect, incident) if is_for_hands else ""
    is_elsewhere = effect.verb == CREATE and effect.room is None  # an announcement, which people would not read here
    quiet = (effect.kind, effect.verb) in QUIET and not by_hand and not is_elsewhere
    data = {"effect": effect.pk, "room": 0 if quiet else incident.room} | ({"by_hand": by_hand} if by_hand else {})
    timeline.append(incident, "failed", at=at, text=text, data=data)
    effect_queue.replan(incident.pk)


def _tells_of_failure(effect: Effect) -> bool:
    if (effect.kind, effect.verb) != ("post", CREATE) or not effect.thing.startswith("told/"):
        return False
    n = int(effect.thing.removeprefix("told/"))
    return Event.objects.filter(incident=effect.incident_id, n=n, kind="failed").exists()


def retry(effect: Effect, *, at: datetime) -> bool:
    """Have a failed effect retried from the start, in the caller's transaction; return False if it had not failed.

    It is planned first, because what it should do may have changed since it failed.
    """
    failed = Effect.objects.filter(pk=effect.pk, state=Effect.State.FAILED)
    again = failed.update(**from_the_start(at))
    if again:
        effect_queue.replan(effect.incident_id)
    return bool(again)


def take_over(incident: Incident, *, retries: Collection[str], awaits: Collection[str], at: datetime) -> None:
    """Let a retype's plan take over effects owed before it, in its transaction; failed ones are retried.

    From then on all of them count as done for that plan.
    """
    owed = Effect.objects.filter(incident=incident)
    if retries:
        failed = owed.filter(key__in=retries, state=Effect.State.FAILED)
        failed.update(**from_the_start(at), revision=incident.revision)
    if awaits:
        owed.filter(key__in=awaits).update(revision=incident.revision)


def from_the_start(at: datetime) -> dict[str, Any]:
    """Return the state of a failed effect that is to be tried as if for the first time.

    If it failed before a restore, it may have been retried and done in the time that was lost.
    """
    calm = {"ended_at": None, "error": "", "error_code": "", **restoring.doubted_again()}
    return calm | {"state": Effect.State.WAITING, "attempt": 0, "unanswered": 0, "due_at": clock.at(at)}


def retry_all(effects: Iterable[Effect], *, at: datetime) -> int:
    """Have failed effects retried, each in its own transaction; return how many were still failed."""
    count = 0
    for effect in effects:
        with transaction.atomic():
            timeline.hold(effect.incident_id)
            count += retry(effect, at=at)
    return count


def look_for_failed(incident_id: int, keys: Iterable[str], *, at: datetime) -> int:
    """Look once for failed effects that are no longer wanted, in the caller's transaction; return how many.

    If that fails too, it is retried when the vendor recovers or when someone presses *Retry*.
    """
    failed = Effect.objects.filter(incident=incident_id, key__in=list(keys), state=Effect.State.FAILED, unsure=True)
    here = failed.filter(abandoned=False).exclude(error_code__startswith=IN_WORKSPACE)
    return here.update(**from_the_start(at), abandoned=True)
