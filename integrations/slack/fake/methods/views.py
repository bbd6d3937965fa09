"""Modals and App Home."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from integrations.slack.fake.server import guards
from integrations.slack.fake.server.answers import ErrorAnswer
from integrations.slack.fake.server.args import Args
from integrations.slack.protocol import block_kit

from .table import Body, Method

if TYPE_CHECKING:
    from integrations.slack.fake.core import Caller, FakeSlack

from integrations.slack.fake import screens
from integrations.slack.fake.content import with_ids
from integrations.slack.fake.workspace import Json, Trigger, View

_STACK: Final = 3


def open_view(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Open a modal for the person whose act gave the trigger, replacing any that is open."""
    trigger = _trigger(slack, args)
    body = _body(slack, args, kind="modal")
    trigger.used = True
    return _view(slack, screens.open_modal(slack, trigger.user, body))


def push(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Put a modal on top of the one the trigger came from; at most three can be open."""
    trigger = _trigger(slack, args)
    if len(slack.workspace.modals.get(trigger.user, [])) >= _STACK:
        raise ErrorAnswer("push_limit_reached")
    if not slack.workspace.modals.get(trigger.user):
        raise ErrorAnswer("not_found")
    body = _body(slack, args, kind="modal")
    trigger.used = True
    return _view(slack, screens.push_modal(slack, trigger.user, body))


def update(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Replace the content of an open view; with `hash`, only if it has not changed meanwhile."""
    view = _existing(slack, args)
    if args.text("hash", view.hash) != view.hash:
        raise ErrorAnswer("hash_conflict")
    kind = view.body.get("type", "modal")
    return _view(slack, screens.replace_body(slack, view, _body(slack, args, kind=kind, besides=view.id)))


def publish(slack: FakeSlack, caller: Caller, args: Args) -> Body:
    """Set a person's App Home."""
    person = guards.existing_person(slack, args.text("user_id"), otherwise="invalid_arguments")
    if person.is_bot or person.deleted:
        raise ErrorAnswer("not_enabled")
    current = slack.workspace.views.get(slack.workspace.homes.get(person.id, ""))
    if current and args.text("hash", current.hash) != current.hash:
        raise ErrorAnswer("hash_conflict")
    body = _body(slack, args, kind="home", besides=current.id if current else "")
    return _view(slack, screens.show_home(slack, person.id, body))


def _trigger(slack: FakeSlack, args: Args) -> Trigger:
    trigger = slack.triggers.get(args.text("trigger_id") or args.text("interactivity_pointer"))
    if trigger is None:
        raise ErrorAnswer("invalid_trigger_id")
    if trigger.used:
        raise ErrorAnswer("exchanged_trigger_id")
    if trigger.expires_at < slack.now():
        raise ErrorAnswer("expired_trigger_id")
    return trigger


def _body(slack: FakeSlack, args: Args, *, kind: str, besides: str = "") -> Json:
    body = args.json("view")
    problems = block_kit.view_problems(body)
    if not problems and body["type"] != kind:
        problems = [f"must be of type {kind} [json-pointer:/view/type]"]
    if problems:
        raise ErrorAnswer("invalid_arguments", *problems)
    if block_kit.is_too_large(body):
        raise ErrorAnswer("view_too_large")
    name = body.get("external_id")
    if name and any(v.external_id == name and v.id != besides for v in slack.workspace.views.values()):
        raise ErrorAnswer("duplicate_external_id")
    return {**body, "blocks": with_ids(body["blocks"])}


def _existing(slack: FakeSlack, args: Args) -> View:
    views = slack.workspace.views
    found = views.get(args.text("view_id"))
    if found is None and "external_id" in args:
        found = next((v for v in views.values() if v.external_id == args.text("external_id")), None)
    if found is None:
        raise ErrorAnswer("not_found")
    return found


def _view(slack: FakeSlack, view: View) -> Body:
    return {"view": screens.written(slack, view)}


METHODS: Final[dict[str, Method]] = {
    "views.open": open_view,
    "views.push": push,
    "views.update": update,
    "views.publish": publish,
}
