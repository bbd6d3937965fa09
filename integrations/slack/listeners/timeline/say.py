"""Update, impact, note, mitigate, resolve, reopen and cancel: verbs with words, from a command or a modal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from incidents import forms, lifecycle
from incidents.drills import replays
from incidents.forms.ending import ReopenForm
from incidents.forms.verb import VerbForm
from incidents.models import Incident, Person, Source
from integrations.slack.interaction import carrying_out, incident_lookup, messages
from integrations.slack.interaction.answers import Answer, Nothing, Open, Replace, Say
from integrations.slack.interaction.request import SlackRequest, keep
from integrations.slack.listeners.timeline import stating
from integrations.slack.listeners.timeline.stating import UpdateDraft
from integrations.slack.protocol import blocks, mrkdwn
from workflows.planning.wording.plan_sum import NO_ONE

CALLBACK: Final = "firekind:say"
NOTHING: Final = UpdateDraft()


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb: its modal's texts, its confirmation, and whether it works without words."""

    name: str
    do: Callable[..., object]
    title: str
    label: str
    submit: str
    done: str
    hint: str = ""
    close: str = "Cancel"
    bare: bool = True
    checks: bool = True  # fails if someone else changed the same thing in the meantime
    states: bool = False  # also asks for impact and the next step
    explains: bool = False  # explains what it does, as its page does


VERBS: Final[Mapping[str, Verb]] = {
    verb.name: verb
    for verb in (
        Verb(
            "update",
            lifecycle.update,
            "Status update",
            "Update",
            "Post",
            "Update {posted} {place}.",
            hint="What you know, and when to expect the next update.",
            bare=False,
            states=True,
        ),
        Verb(
            "impact",
            lifecycle.state_impact,
            "Impact",
            "Impact",
            "Post",
            "Impact {posted} {place}.",
            hint="Who is affected, and how badly.",
            bare=False,
        ),
        Verb(
            "note",
            lifecycle.note,
            "Note",
            "Note",
            "Add note",
            "Added to the timeline of {link}. No one is notified.",
            bare=False,
            checks=False,
        ),
        Verb(
            "answer",
            replays.answer,
            "What would you do?",
            "Next, I would",
            "Answer",
            "Your answer is on the timeline of {link}.",
            hint="Answer before you see what was done.",
            bare=False,
            checks=False,
        ),
        Verb(
            "mitigate",
            lifecycle.mitigate,
            forms.VERBS["mitigate"].heading,
            "What helped?",
            forms.VERBS["mitigate"].button,
            "{link} is mitigated. It stays open until you resolve it.",
        ),
        Verb(
            "resolve",
            lifecycle.resolve,
            "Resolve",
            "What was it, and what helped?",
            "Resolve",
            "{link} is resolved.",
            explains=True,
        ),
        Verb("reopen", lifecycle.reopen, "Reopen", "Why?", "Reopen", "{link} is open again.", explains=True),
        Verb(
            "cancel",
            lifecycle.cancel,
            "Cancel incident",
            "Why was it not an incident?",
            "Cancel incident",
            "{link} is cancelled.",
            close="Go back",
            explains=True,
        ),
    )
}


def command(verb: Verb) -> Callable[[SlackRequest, Incident], Answer]:
    """Make a verb's command: done immediately with its words, or with a modal when it needs some."""

    def run(asked: SlackRequest, incident: Incident) -> Answer:
        if not asked.words and not verb.bare:
            return _opened(verb, incident, asked)
        if verb.states:
            return Say(stating.post(incident, stating.typed(asked), asked))
        reach = _reach(verb, incident, by=asked.by)
        _do(verb, incident, asked, messages.typed(asked.words))
        return Say(" ".join(filter(None, (_done(verb, incident), mrkdwn.escape(reach)))))

    return run


def form(verb: Verb) -> Callable[[SlackRequest, Incident], Answer]:
    """Make the listener that opens a verb's modal with the words that were typed."""

    def run(asked: SlackRequest, incident: Incident) -> Answer:
        return _opened(verb, incident, asked, said=UpdateDraft(text=messages.typed(asked.words)))

    return run


def button(verb: Verb) -> Callable[[SlackRequest], Answer]:
    """Make the listener of a verb's button, which opens the modal."""

    def run(asked: SlackRequest) -> Answer:
        return _opened(verb, incident_lookup.named(asked.value, by=asked.by), asked)

    return run


def submitted(asked: SlackRequest) -> Answer:
    """Carry out the submitted modal."""
    form = asked.filled
    verb = VERBS[form.kept.word("v", VERBS)]
    incident = incident_lookup.named(form.kept.text("i"), by=asked.by)
    since = {"since": form.kept.number("n")} if verb.checks else {}
    reach = {"reach": form.kept.text("r")} if "r" in form.kept else {}
    said = stating.filled(form)
    try:
        if verb.states:
            stating.post(incident, said, asked, **since)
        else:
            _do(verb, incident, asked, said.text, **since, **reach)
    except lifecycle.Stale as stale:  # the person reads what changed, and a second submission goes through
        return Replace(modal(verb, incident, said=said, by=asked.by, changed=str(stale)))
    return Nothing()


def modal(
    verb: Verb, incident: Incident, *, by: Person, said: UpdateDraft = NOTHING, changed: str = ""
) -> blocks.Block:
    """Build a verb's modal: what it does, what ``changed`` while the person was writing, and the field for words."""
    about = incident_lookup.titled(incident)
    form = _form(verb, incident, by=by) if verb.explains else None
    explains = form.explains if form is not None else ""
    parts = [
        *carrying_out.warned(),
        blocks.section(about),
        *([blocks.section(mrkdwn.escape(explains))] if explains else ()),
        *([blocks.section(mrkdwn.escape(changed))] if changed else ()),
        blocks.field(
            verb.label,
            blocks.text_input(action_id="text", lines=True, initial=said.text),
            block_id="text",
            hint=verb.hint or None,
            optional=verb.bare,
        ),
        *(stating.fields(incident, said) if verb.states else ()),
    ]
    reach = {"r": form.reaches} if isinstance(form, ReopenForm) else {}
    kept = keep(v=verb.name, i=incident.codename, n=incident.last_n, **reach)
    return blocks.modal(verb.title, parts, callback_id=CALLBACK, submit=verb.submit, close=verb.close, kept=kept)


def _opened(verb: Verb, incident: Incident, asked: SlackRequest, *, said: UpdateDraft = NOTHING) -> Answer:
    """Open a verb's modal. Raises ``Refused`` where the web page would not offer the verb either."""
    refusal = _form(verb, incident, by=asked.by).refusal if verb.name in forms.VERBS else ""
    if refusal:
        raise lifecycle.Refused(refusal)
    return Open(modal(verb, incident, by=asked.by, said=said))


def _form(verb: Verb, incident: Incident, *, by: Person) -> VerbForm:
    """Return the form of a verb's page, which knows when it is offered and what it does."""
    return forms.VERBS[verb.name](incident=incident, person=by, asked={})


def _reach(verb: Verb, incident: Incident, *, by: Person) -> str:
    """Say who would be paged and brought in by a reopening verb that was typed, without a form; empty for no one."""
    form = _form(verb, incident, by=by) if verb.explains else None
    reach = form.reaches if isinstance(form, ReopenForm) else ""
    return "" if reach == f"{NO_ONE}." else reach


def _do(verb: Verb, incident: Incident, asked: SlackRequest, text: str, **rest: Any) -> None:
    verb.do(incident, text=text, by=asked.by, at=asked.at, source=Source.SLACK, **rest)


def _done(verb: Verb, incident: Incident) -> str:
    link, place = incident_lookup.linked(incident), incident_lookup.place(incident)
    return verb.done.format(link=link, place=place, posted=carrying_out.posted())
