"""Perform effects: call the vendor outside any transaction, record, and continue with what became ready."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection
from django.utils import timezone

from audit import log_ids, tracing
from incidents import timeline
from incidents.claiming import in_hand, stopping
from incidents.claiming.keyed_executor import begun, has_thread
from incidents.claiming.shared_clock import clock
from incidents.outages import database_watch, spare_connections
from workflows import pager_account, ports
from workflows.effects import (
    effect_queue,
    failpoints,
    late_requests,
    lost_channels,
    rate_limits,
    restoring,
    vendor_errors,
    workspaces,
)
from workflows.effects.failing import abandoned, failures
from workflows.effects.priority_semaphore import Turns
from workflows.effects.work import Elsewhere, Outcome, Work
from workflows.models import Effect, Page
from workflows.performing.method_slots import MethodSlots
from workflows.performing.performers import LOOKERS, PERFORMERS
from workflows.planning import actions
from workflows.planning.actions import CREATE, EFFECTS, KINDS
from workflows.planning.observed import ELSEWHERE
from workflows.ports import VendorError

log = logging.getLogger(__name__)

# Concurrent calls per worker process and port: most only wait, and an unresponsive vendor holds up no other.
IN_FLIGHT: Final = {"chat": 32, "pager": 24, "tracker": 8, "profiler": 12}
# Of these, calls of one method, or of one source of profiles: an unresponsive method holds up no other.
OF_A_METHOD: Final = {"chat": 8, "pager": 8, "tracker": 3, "profiler": 4}
AT_ONCE = 16  # effects of one incident that are claimed together
RECORD_AT_ONCE = 2
HEAD_START_S = 0.005  # for the longest chain
NO_SLOT = timedelta(seconds=2)  # until an effect of a silent method is tried again
LEFT_TO_NEWER = timedelta(seconds=15)  # effects that only a newer version, running alongside this one, can perform

Outside = Mapping[str, Any]  # the adapter behind each port, by the port's name

_recording = Turns(RECORD_AT_ONCE)
_pools: Final = {port: ThreadPoolExecutor(most, thread_name_prefix=port) for port, most in IN_FLIGHT.items()}
_slots: Final = {port: MethodSlots(most) for port, most in OF_A_METHOD.items()}


def asked(incident_id: int, *, queue: str = EFFECTS) -> set[str]:
    """Return the connected ports that this incident's owed effects need."""
    kinds = actions.of_queue(queue, ports=ports.connected().keys())
    return {KINDS[kind].port for kind in effect_queue.owed_kinds(incident_id) if kind in kinds}


def drain(incident_id: int, *, queue: str = EFFECTS, port: str = "", side_by_side: bool = True) -> set[str]:
    """Perform every ready effect of a queue, and those that become ready, concurrently; return the kinds performed.

    With ``port``, only the effects of that port. Returns once nothing claimed here is left. Effects that are due later
    or wait for a rate limit are left to the sweep. Without ``side_by_side`` everything runs in the caller's thread, and
    so in its transaction.
    """
    outside: Outside = {name: one for name, one in ports.connected().items() if port in {"", name}}
    chat, pager = outside.get("chat"), outside.get("pager")
    done = set[str]()
    if pager is not None and not pager_account.is_known(pager, at=timezone.now()):
        outside = _without("pager", outside)
    if chat is not None and not workspaces.is_followed(chat):
        # Pages do not wait for the chat.
        done |= _drain(incident_id, _without("chat", outside), queue=queue, side_by_side=side_by_side)
        if not workspaces.follow(chat, at=timezone.now()):
            return done
    return done | _drain(incident_id, outside, queue=queue, side_by_side=side_by_side)


def _without(port: str, outside: Outside) -> Outside:
    return {name: one for name, one in outside.items() if name != port}


def _drain(incident_id: int, outside: Outside, *, queue: str, side_by_side: bool) -> set[str]:
    kinds, done = actions.of_queue(queue, ports=outside.keys()), set[str]()
    if not kinds:
        return done
    # Two effects that end at the same time do not see each other's records, so neither claims what waits for both.
    while not stopping.is_asked() and (
        claimed := effect_queue.claim(incident_id, at=timezone.now(), limit=AT_ONCE, kinds=kinds)
    ):
        drain = _Drain(outside, kinds, side_by_side=side_by_side)
        drain.run(claimed)
        done |= drain.done
    return done


class _Drain:
    """One incident's effects in flight: the longest chain stays in the caller's thread, the rest run in others."""

    def __init__(self, outside: Outside, kinds: Sequence[str], *, side_by_side: bool) -> None:
        self.outside = outside
        self.kinds = kinds
        self.side_by_side = side_by_side
        self.held: dict[tuple[int, int], Work] = {}
        self.done: set[str] = set()
        self.left = 0
        self.changed = threading.Condition()

    def run(self, claimed: Sequence[Work]) -> None:
        # A slow worker keeps its claims; only one that died or is out of contact loses them.
        with effect_queue.CLAIMS.renewed(self._in_hand, what="effects") if self.side_by_side else nullcontext():
            self._chain(claimed)
            if self.side_by_side:
                spare_connections.give_back()  # the threads we wait for need a connection each
            with self.changed:
                self.changed.wait_for(lambda: self.left == 0)

    def _in_hand(self) -> list[Effect]:
        return [work.effect for work in list(self.held.values())]

    def _chain(self, claimed: Sequence[Work]) -> None:
        while claimed:
            self.held |= {_claim(work): work for work in claimed}
            self.done |= {work.effect.kind for work in claimed}
            first, *rest = claimed
            if self.side_by_side:
                for work in rest:
                    self._spread(work)
                rest = []
            claimed = [*self._perform(first), *rest]

    def _perform(self, work: Work) -> list[Work]:
        try:
            with log_ids.of(incident=work.effect.incident_id, effect=work.effect.pk):
                return perform(self.outside[KINDS[work.effect.kind].port], work, kinds=self.kinds)
        finally:
            del self.held[_claim(work)]

    def _spread(self, work: Work) -> None:
        with self.changed:
            self.left += 1
        pool = _pools[KINDS[work.effect.kind].port]
        if has_thread(pool) and begun(pool, self._aside, work):
            return
        del self.held[_claim(work)]
        effect_queue.put_back(work, until=timezone.now())
        with self.changed:
            self.left -= 1

    def _aside(self, work: Work) -> None:
        try:
            time.sleep(HEAD_START_S)
            self._chain([work])
        except BaseException as error:  # a thread must not die unnoticed: the lease runs out, and the sweep takes over
            if database_watch.is_to_blame(error) and not database_watch.is_deadlock(error):
                ended = database_watch.has_ended(error)
                why = "ended it" if ended else "does not answer"
                log.warning("effect %s was interrupted: the database %s", work.effect.pk, why)
            else:
                log.exception("effect %s was interrupted", work.effect.pk)
            raise
        finally:
            connection.close()
            with self.changed:
                self.left -= 1
                self.changed.notify_all()


def _claim(work: Work) -> tuple[int, int]:
    return work.effect.pk, work.effect.token


def perform(port: Any, work: Work, *, kinds: Sequence[str] = effect_queue.HASTY) -> list[Work]:
    """Perform one claimed effect and record the outcome; return what was claimed next in the same transaction.

    ``port`` is the adapter for the effect's kind; ``kinds`` are those that may be claimed next.
    """
    effect = work.effect
    if (effect.kind, effect.verb) not in PERFORMERS:
        effect_queue.put_back(work, until=clock.at(timezone.now()) + LEFT_TO_NEWER)
        return []
    now = timezone.now()
    if until := now if stopping.is_asked() else rate_limits.blocked_until(effect.method, at=now):
        effect_queue.put_back(work, until=until)
        return []
    with _slots[KINDS[effect.kind].port].one(_waits_for(work)) as is_free:
        if is_free:
            outcome = _asked(port, work)
        else:
            effect_queue.put_back(work, until=clock.at(timezone.now()) + NO_SLOT)
            outcome = None
    if outcome is None:
        return []
    failpoints.point(failpoints.AFTER_CALL, kind=effect.kind)
    claimed = _recorded(work, outcome, kinds)
    failpoints.point(failpoints.AFTER_RECORD, kind=effect.kind)
    return claimed


def _waits_for(work: Work) -> tuple[str, ...]:
    """Return what an effect waits for: a method or a source, and whether it first asks what is there."""
    effect = work.effect
    looks = work.unsure and (effect.kind, effect.verb) in LOOKERS
    return effect.method, str(effect.spec.get("source", "")), "look" if looks else ""


def _asked(port: Any, work: Work) -> Outcome | None:
    """Call the vendor if the effect is still ours and wanted; return None if nothing is to be recorded as done."""
    effect = work.effect
    # It may have waited long for a thread.
    at = timezone.now()
    if not effect_queue.CLAIMS.still_held(effect, at=at) or abandoned.has_moved_on(work, at=at):
        return None
    if effect.unanswered > failures.UNANSWERED:
        failures.record_error(work, _endless(effect.method), at=timezone.now())
        return None
    if KINDS[effect.kind].queue != EFFECTS:
        timeline.nudge_readers(effect.incident_id)  # a slow effect shows as started
    spare_connections.give_back()
    failpoints.point(failpoints.BEFORE_CALL, kind=effect.kind)
    return _called(port, work)


def _called(port: Any, work: Work) -> Outcome | None:
    """Call the vendor; if nothing was done, record why and return None."""
    effect = work.effect
    try:
        with _traced(effect), _in_hand(work):
            outcome = _outcome(port, work)
    except in_hand.OutOfHand:
        return None
    except Elsewhere:
        abandoned.leave_elsewhere(work, at=timezone.now())
        return None
    except _OnItsWay as later:
        effect_queue.put_back(work, until=later.look_at)
        return None
    except VendorError as error:
        log.warning("effect %s (%s): %s", effect.pk, effect.key, error)
        _not_done(port, work, error)
        vendor_errors.count(KINDS[effect.kind].port, error.code)
        return None
    if outcome is None:
        abandoned.give_up(work, at=timezone.now())
    return outcome


def _not_done(port: Any, work: Work, error: VendorError) -> None:
    """Record what went wrong; if the channel itself is gone or archived, record only that.

    If that cannot be determined now, the refused call is retried later.
    """
    try:
        what = lost_channels.explanation(port, work, error)
    except VendorError as unknown:
        what, error = "", unknown
    if what:
        lost_channels.end(work, what, looking=error.looking, at=timezone.now())
    else:
        failures.record_error(work, error, at=timezone.now())


def _traced(effect: Effect) -> AbstractContextManager[object]:
    """Trace the vendor calls, within the trace of the command that caused the effect."""
    ids = {"incident": effect.incident_id, "effect": effect.pk, "attempt": effect.attempt}
    return tracing.span(f"{effect.kind} {effect.verb}", parent=effect.traceparent, kind=tracing.CLIENT, **ids)


def _in_hand(work: Work) -> AbstractContextManager[object]:
    """Have each request check first that this worker was not suspended so long that others took over."""

    def is_ours() -> bool:
        held = effect_queue.CLAIMS.still_held(work.effect, at=timezone.now())
        if not held:
            log.warning("effect %s was taken over while this worker stood still", work.effect.pk)
        return held

    return in_hand.working(is_ours=is_ours, is_wanted=lambda: not abandoned.has_moved_on(work, at=timezone.now()))


def _endless(method: str) -> VendorError:
    """Return the error for an effect that is claimed again and again without a result: workers die of it."""
    says = "It was started many times and never finished. Check the worker's log, then retry."
    return VendorError(says, code="endless", method=method)


class _OnItsWay(Exception):
    """The last try has not done anything yet, and still may."""

    def __init__(self, look_at: datetime) -> None:
        self.look_at = look_at


def _outcome(port: Any, work: Work) -> Outcome | None:
    """Look first if the last try may have succeeded; None for an abandoned effect that did not happen.

    Raises ``_OnItsWay`` while it may still happen, and would then happen twice, or unnoticed.
    """
    what = work.effect.kind, work.effect.verb
    if _is_elsewhere(work):
        raise Elsewhere
    if work.unsure and what in LOOKERS and (found := _found(port, work)) is not None:
        return found
    if (look_at := late_requests.look_again_at(work, at=timezone.now())) is not None:
        raise _OnItsWay(look_at)
    if work.unsure and work.effect.abandoned:
        return None
    if work.unsure or work.waited:
        # If it was lost in a restore and is not found, it was never done. Inviting is excluded: people already in are
        # invited again.
        is_first = what in restoring.DOUBTED and what != ("member", CREATE) and work.lost_until is not None
        effect_queue.note_try(work, at=timezone.now(), is_first=is_first)
    return PERFORMERS[what](port, work)


def _found(port: Any, work: Work) -> Outcome | None:
    """Check whether the last try succeeded; an error says that the check was not possible."""
    try:
        return LOOKERS[work.effect.kind, work.effect.verb](port, work)
    except VendorError as error:
        error.looking = True
        raise


def _is_elsewhere(work: Work) -> bool:
    """Return whether its resource is in a workspace or account that is no longer connected."""
    effect = work.effect
    if KINDS[effect.kind].port == "pager":
        key = effect.spec.get("page", effect.thing)
        return Page.objects.filter(incident=effect.incident_id, key=key, elsewhere=True).exists()
    return work.external.get(f"channel/{effect.room}", {}).get("why") == ELSEWHERE


def _recorded(work: Work, outcome: Outcome, kinds: Sequence[str]) -> list[Work]:
    with _recording.turn(work.effect.rank):
        claim_more = 0 if stopping.is_asked() else AT_ONCE
        return effect_queue.record_done(work, outcome, at=timezone.now(), claim_more=claim_more, kinds=kinds)
