"""The stand-in Slack: state behind one lock, with Web API calls coming in and deliveries to the app going out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from integrations.slack.fake.server.answers import ErrorAnswer, Reply
from integrations.slack.fake.server.args import Args
from integrations.slack.fake.server.calls import Call, Calls
from integrations.slack.fake.server.faults import CALL, EVENT, FaultEffect
from integrations.slack.fake.server.rates import Rates
from integrations.slack.protocol import installation
from integrations.slack.protocol.rules import RULES, MethodRule

from .acts import Acts
from .looking import Looking
from .methods import METHODS
from .state import BOT_USER
from .workspace import Json, Person, Workspace

BOT_SCOPES: Final = frozenset(installation.scopes())
"""Scopes the bot token has unless told otherwise: those that the manifest asks for."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller: the person or bot behind a token, and what the token may do."""

    kind: str
    user: str
    scopes: frozenset[str]

    @property
    def is_bot(self) -> bool:
        """Whether this is a bot token."""
        return self.kind == "bot"


class FakeSlack(Looking):
    """A whole workspace in memory that follows Slack's rules. Thread-safe; never sleeps, never raises from `call`.

    `clock` returns seconds since 1970 and is the only source of time. `scopes` are the bot token's. `app_home` says
    which tabs the app has: without its messages tab it cannot send direct messages. `subscriptions` are the event types
    that the app receives, where its bot may see them.
    """

    def __init__(
        self,
        *,
        bot_token: str = "xoxb-sandbox",  # noqa: S107 -- opens only this stand-in
        app_token: str = "xapp-sandbox",  # noqa: S107 -- opens only this stand-in
        user_token: str = "xoxp-sandbox",  # noqa: S107 -- opens only this stand-in
        scopes: Iterable[str] = BOT_SCOPES,
        app_home: Mapping[str, bool] = installation.APP_HOME,
        workspace: Workspace | None = None,
        clock: Callable[[], float] = time.time,
        base_url: str = "https://sandbox.example",
        commands: Iterable[str] = ("/incident",),
        seed: int = 0,
    ) -> None:
        super().__init__(workspace, clock=clock, base_url=base_url, seed=seed)
        self.app_home = dict(app_home)
        self.commands = tuple(commands)
        self.calls = Calls()
        self.rates = Rates()
        self.acts = Acts(self)
        self._tokens = {
            bot_token: Caller("bot", BOT_USER, frozenset(scopes)),
            app_token: Caller("app", BOT_USER, frozenset({"connections:write"})),
        }
        self._user_token = user_token

    def call(self, method: str, args: Mapping[str, Any], *, token: str, blow: FaultEffect | None = None) -> Reply:
        """Answer one Web API call. A transport that delays answers chooses the fault (`blow`) first, by `strike`."""
        given = {key: value for key, value in args.items() if value is not None and key != "token"}
        with self.lock:
            began_at = self.now()
            blow = blow if blow is not None else self.strike(method)
            reply = self._under_faults(method, given, token, blow)
            reply.call = self._log(method, given, began_at, reply, blow)
            return reply

    def _log(self, method: str, args: Json, began_at: float, reply: Reply, blow: FaultEffect) -> Call:
        done = bool(reply.body.get("ok")) or (blow.kind == reply.body.get("error") == "fatal_error")
        error = "" if reply.ok else str(reply.body.get("error") or "dropped")
        n = self.calls.total + 1
        call = Call(n, method, args, began_at, self.now(), done, error, reply.status, blow.kind)
        self.calls.add(call)
        return call

    def strike(self, *asked: str) -> FaultEffect:
        """Return the effect of the active faults on one call, named by its method."""
        return super().strike(CALL, *asked)

    def strike_event(self, type: str) -> FaultEffect:
        """Return the effect of the active faults on one event on its way to the app."""
        return super().strike(EVENT, type)

    def writes(self) -> list[Call]:
        """List the calls that change the workspace."""
        return self.calls.writes()

    def count(self, method: str = "") -> int:
        """Count the calls of one method, or all."""
        return self.calls.count(method)

    def may(self, token: str, scope: str) -> bool:
        """Return whether a token is one of ours and has a scope."""
        caller = self._tokens.get(token) or self._owner(token)
        return caller is not None and scope in caller.scopes

    def install(self, *, app_home: Mapping[str, bool] | None = None, scopes: Iterable[str] | None = None) -> None:
        """Reinstall the app from a manifest with other tabs or permissions."""
        with self.lock:
            self.app_home |= app_home or {}
            if scopes is not None:
                bot = next(token for token, caller in self._tokens.items() if caller.is_bot)
                self._tokens[bot] = Caller("bot", BOT_USER, frozenset(scopes))
            self.changed()

    def exchange_token(self, token: str) -> None:
        """Give the app another bot token; the previous one stops working."""
        with self.lock:
            old = next(one for one, caller in self._tokens.items() if caller.is_bot and caller.user == BOT_USER)
            self._tokens[token] = self._tokens.pop(old)
            self.changed()

    def add_app(self, handle: str, *, token: str) -> Person:
        """Install another app with the same permissions. It has its own bot and gets no events."""
        name = handle.upper()
        bot = self.add_person(handle, id=f"U0{name}", is_bot=True, bot_id=f"B0{name}", app_id=f"A0{name}")
        with self.lock:
            self._tokens[token] = Caller("bot", bot.id, BOT_SCOPES)
        return bot

    def _under_faults(self, method: str, args: Json, token: str, blow: FaultEffect) -> Reply:
        before = self._blow_before(blow)
        if before:
            return before
        reply = self._answer(method, args, token)
        reply.latency_s = blow.latency_s
        if blow.kind == "drop":
            reply.dropped = True
        elif blow.kind == "fatal_error" and reply.body.get("ok"):
            reply.body = {"ok": False, "error": "fatal_error"}
        return reply

    def _blow_before(self, blow: FaultEffect) -> Reply | None:
        late = blow.latency_s
        match blow.fault:
            case None:
                return None
            case fault if fault.kind == "ratelimited":
                return _ratelimited(fault.retry_after_s, late)
            case fault if fault.kind == "server_error":
                return Reply(500, {"ok": False, "error": "internal_error"}, latency_s=late)
            case fault if fault.kind == "error":
                return Reply(200, {"ok": False, "error": fault.error}, latency_s=late)
            case fault if fault.kind == "drop_before":
                return Reply(0, {}, latency_s=late, dropped=True)
        return None

    def _answer(self, method: str, args: Json, token: str) -> Reply:
        try:
            rule = _rule(method)
            caller = self._caller(rule, token)
            wait_s = self.rates.wait_s(method, str(args.get("channel", "")), self.now())
            if wait_s:
                return _ratelimited(wait_s)
            _check_arguments(rule, args)
            self._check_team(rule, args)
            body = METHODS[method](self, caller, Args(args))
        except ErrorAnswer as refusal:
            return Reply(200, {"ok": False, "error": refusal.code, **refusal.body})
        if rule.writes:
            self.changed()
        return Reply(200, {"ok": True, **body}, {"X-OAuth-Scopes": ",".join(sorted(caller.scopes))})

    def _check_team(self, rule: MethodRule, args: Json) -> None:
        """Require the workspace's id if the token is for a whole organisation."""
        if self.workspace.org_wide and rule.allows("team_id") and "team_id" not in args:
            raise ErrorAnswer("missing_argument")

    def _caller(self, rule: MethodRule, token: str) -> Caller:
        if not token:
            raise ErrorAnswer("not_authed")
        caller = self._tokens.get(token) or self._owner(token)
        if caller is None:
            raise ErrorAnswer("invalid_auth")
        if caller.kind not in rule.tokens:
            raise ErrorAnswer("not_allowed_token_type")
        enough = rule.scopes_of(caller.kind)
        if enough and not enough & caller.scopes:
            raise ErrorAnswer(
                "missing_scope", needed=",".join(sorted(enough)), provided=",".join(sorted(caller.scopes))
            )
        return caller

    def _owner(self, token: str) -> Caller | None:
        owner = next((p for p in self.workspace.people.values() if p.is_owner and not p.deleted), None)
        if owner is None or token != self._user_token:
            return None
        everything = frozenset(scope for rule in RULES.values() for scope in rule.scopes_of("user"))
        return Caller("user", owner.id, everything)


def _rule(method: str) -> MethodRule:
    rule = RULES.get(method)
    if rule is None:
        raise ErrorAnswer("unknown_method", req_method=method)
    return rule


def _ratelimited(retry_after_s: int, latency_s: float = 0.0) -> Reply:
    body = {"ok": False, "error": "ratelimited"}
    return Reply(429, body, {"Retry-After": str(retry_after_s)}, latency_s)


_WORDS_FOR_MISSING: Final = {
    "users": ("no_users_provided", "no_user"),
    "name": ("invalid_name_required",),
}


def _check_arguments(rule: MethodRule, args: Json) -> None:
    missing = [name for name in rule.required if _is_missing(name, args)]
    for name in missing:
        for code in _WORDS_FOR_MISSING.get(name, ()):
            if code in rule.errors:
                raise ErrorAnswer(code)
    unknown = [f"unknown field: {name}" for name in args if not rule.allows(name)]
    if missing or unknown:
        raise ErrorAnswer("invalid_arguments", *(f"missing required field: {name}" for name in missing), *unknown)


def _is_missing(name: str, args: Json) -> bool:
    may_be_empty = name in ("topic", "purpose", "users")
    return name not in args or (args[name] == "" and not may_be_empty)
