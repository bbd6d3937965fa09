from __future__ import annotations

import json
import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from datetime import date
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from incidents import lifecycle, visibility
from incidents.audited import audit_notes
from incidents.drills import replays
from incidents.lifecycle import ending, rules
from incidents.models import Followup, Incident, IncidentType, Person, Source
from incidents.people import person_matching
from workflows import terminal
from workflows.paging import paging
from workflows.performing import capturing
from workflows.reconcile import retyping
from workflows.status import page_status

# The verbs that take words: name -> (lifecycle's verb, help, whether words are required).
WORDED: dict[str, tuple[Callable[..., object], str, bool]] = {
    "update": (lifecycle.update, "Post a status update.", True),
    "impact": (lifecycle.state_impact, "Set the impact: who is affected, and how badly.", True),
    "note": (lifecycle.note, "Add a note to the timeline.", True),
    "mitigate": (lifecycle.mitigate, "Mark the incident as mitigated.", False),
    "resolve": (lifecycle.resolve, "Resolve the incident.", False),
    "reopen": (lifecycle.reopen, "Reopen the incident.", False),
    "cancel": (lifecycle.cancel, "Cancel the incident.", False),
}

EMAIL = re.compile(r"[^\s@]+@[^\s@]+")
EMAIL_CHARS = 200
CHANGED = "Nothing was changed, because the plan is different now. Review it with --dry-run, then try again."
ADDED = {"task": "Add a task.", "followup": "Add a follow-up."}
# The verbs for one task or follow-up, by its number.
NUMBERED: dict[str, tuple[Callable[..., object], str]] = {
    "finish": (lifecycle.finish_followup, "Mark a task or follow-up as done."),
    "drop": (lifecycle.drop_followup, "Drop a task or follow-up: it will not be done."),
    "reopen-task": (lifecycle.reopen_followup, "Reopen a task or follow-up."),
}


def _day(said: str) -> date:
    try:
        return date.fromisoformat(said)
    except ValueError:
        raise ArgumentTypeError(f"{said} is not a day. Write it like 2026-12-01.") from None


class Command(BaseCommand):
    help = "Run an incident from a terminal, for when Slack and the web are unavailable."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

        def verb(name: str, says: str, *, codename: bool = True) -> ArgumentParser:
            sub = verbs.add_parser(name, help=says, description=says)
            sub.add_argument("--by", metavar="EMAIL", help="who does this; default: the terminal itself")
            sub.add_argument("--json", action="store_true", help="print JSON")
            if codename:
                sub.add_argument("codename")
            return sub

        declare = verb("declare", "Declare an incident and print the plan.", codename=False)
        declare.add_argument("title")
        declare.add_argument("--type", metavar="SLUG")
        declare.add_argument("--summary", default="")
        declare.add_argument("--drill", action="store_true", help="for practice: no one is paged, nothing announced")
        replay = verb("replay", "Play an ended incident again in a drill.")
        replay.add_argument("--speed", type=int, default=replays.SPEED, help="playback speed, as in 10 for 10 times")
        retype = verb("retype", "Retype the incident and print the plan.")
        retype.add_argument("type", metavar="TYPE")
        retype.add_argument("--because", default="", metavar="WORDS")
        retype.add_argument("--bring", action="append", default=[], metavar="EMAIL", help="bring this person along")
        retype.add_argument(
            "--stay-out", action="store_true", help="do not come along into the private incident yourself"
        )
        retype.add_argument("--dry-run", action="store_true", help="print the plan and change nothing")
        for name, (_, says, needed) in WORDED.items():
            verb(name, says).add_argument("text", nargs="?" if not needed else None, default="")
        for name, says in ADDED.items():
            adding = verb(name, says)
            adding.add_argument("text")
            adding.add_argument("--owner", metavar="EMAIL", help="who does it")
            adding.add_argument("--due", metavar="DAY", type=_day, help="by when, as 2026-12-01")
        for name, (_, says) in NUMBERED.items():
            verb(name, says).add_argument("n", type=int, metavar="NUMBER", help="as `show` lists it")
        capture = verb("capture", "Capture a profile now from a configured source.")
        capture.add_argument("source", metavar="SOURCE")
        capture.add_argument("kind", nargs="?", default="", metavar="KIND")
        capture.add_argument("seconds", nargs="?", type=int, metavar="SECONDS")
        page = verb("page", "Page someone. Without a name, list who can be paged and who that reaches now.")
        page.add_argument("whom", nargs="?", default="", metavar="WHO", help="a name, an ID or a person's email")
        page.add_argument("--because", default="", metavar="WORDS")
        page.add_argument("--dry-run", action="store_true", help="show who would be paged without paging anyone")
        glass = verb("open-glass", "Let someone into a private incident immediately. Its people are notified.")
        glass.add_argument("--because", required=True, metavar="SENTENCE")
        redact = verb("redact", "Delete what an entry says for good. With --by, only the lead can.")
        redact.add_argument("n", type=int, metavar="NUMBER", help="the entry's number, as `show --json` prints it")
        verb("show", "Show one incident.")
        listing = verb("list", "List incidents.", codename=False)
        listing.add_argument("--active", action="store_true", help="active incidents only")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        by = None if options["by"] is None else self._person(options["by"])
        try:
            if verb in WORDED:
                self._worded(verb, by, options)
            elif verb in ADDED:
                self._add(verb, by, options)
            elif verb in NUMBERED:
                NUMBERED[verb][0](self._incident(by, options), **self._about(by), n=options["n"])
                self._done(self._incident(by, options), by, options, [])
            else:
                getattr(self, f"_{verb.replace('-', '_')}")(by, options)
        except lifecycle.Refused as refused:
            raise CommandError(str(refused)) from refused
        except lifecycle.NotThere:
            raise self._no_incident(options) from None

    def _declare(self, by: Person | None, options: dict[str, Any]) -> None:
        type = self._type(options["type"]) if options["type"] else self._default_type()
        plan = retyping.preview_declare(type=type, by=by, is_drill=options["drill"])
        incident = lifecycle.declare(
            options["title"],
            by=by,
            at=timezone.now(),
            source=Source.TERMINAL,
            type=type,
            summary=options["summary"],
            is_drill=options["drill"],
        )
        cut = [rules.TITLE_CUT] if rules.is_long(options["title"]) else []
        self._done(incident, by, options, [*cut, *terminal.plan_lines(plan, style=self.style)])

    def _replay(self, by: Person | None, options: dict[str, Any]) -> None:
        past = self._incident(by, options)
        drill = replays.start(past, by=by, at=timezone.now(), source=Source.TERMINAL, speed=options["speed"])
        self._done(drill, by, options, [f"+ replay {past.codename}"])

    def _retype(self, by: Person | None, options: dict[str, Any]) -> None:
        incident, to = self._incident(by, options), self._type(options["type"])
        bring = [self._person(email) for email in options["bring"]]
        come = not options["stay_out"]
        plan = retyping.preview(incident, to=to, by=by, bring=bring, come=come)
        if options["dry_run"]:
            self._print(terminal.plan_lines(plan, style=self.style))
            return
        about = self._about(by) | {"because": options["because"], "bring": bring, "come": come}
        try:
            incident = retyping.confirm(incident, to=to, digest=plan.digest, **about)
        except retyping.PlanChanged as changed:
            raise CommandError(CHANGED) from changed
        self._done(incident, by, options, [*terminal.plan_lines(plan, style=self.style)])

    def _worded(self, verb: str, by: Person | None, options: dict[str, Any]) -> None:
        incident = self._incident(by, options)
        reach = [ending.reach_again(incident, by=by)] if verb == "reopen" else []
        WORDED[verb][0](incident, text=options["text"], by=by, at=timezone.now(), source=Source.TERMINAL)
        self._done(self._incident(by, options), by, options, reach)

    def _add(self, verb: str, by: Person | None, options: dict[str, Any]) -> None:
        incident = self._incident(by, options)
        owner = None if options["owner"] is None else self._person(options["owner"])
        phase = Followup.Phase.DURING if verb == "task" else Followup.Phase.AFTERWARDS
        what = {"text": options["text"], "owner": owner, "due_on": options["due"]}
        made = lifecycle.add_followup(incident, phase=phase, **what, **self._about(by))
        self._done(self._incident(by, options), by, options, [f"+ {made.word} {made.n}: {made.text}"])

    def _about(self, by: Person | None) -> dict[str, Any]:
        return {"by": by, "at": timezone.now(), "source": Source.TERMINAL}

    def _capture(self, by: Person | None, options: dict[str, Any]) -> None:
        incident = self._incident(by, options)
        asked = {name: options[name] for name in ("source", "kind", "seconds")}
        said = capturing.ask(incident, by=by, at=timezone.now(), via=Source.TERMINAL, **asked)
        self._done(self._incident(by, options), by, options, [f"+ {said}"])

    def _page(self, by: Person | None, options: dict[str, Any]) -> None:
        incident = self._incident(by, options)
        among = paging.choices(incident)
        if not options["whom"]:
            self._print(terminal.callees(among, style=self.style))
            return
        choice = page_status.meant(options["whom"], among)
        if options["dry_run"]:
            self._print(terminal.callees([choice], style=self.style))
            return
        why = options["because"]
        said = paging.ask(incident, target=choice.target, because=why, by=by, at=timezone.now(), via=Source.TERMINAL)
        self._done(self._incident(by, options), by, options, [f"+ {said}"])

    def _open_glass(self, by: Person | None, options: dict[str, Any]) -> None:
        if by is None:
            raise CommandError("Name the person who needs access: --by EMAIL. The terminal itself sees everything.")
        name, why = options["codename"], options["because"]
        incident = lifecycle.break_glass(name, by=by, because=why, at=timezone.now(), source=Source.TERMINAL)
        self._done(
            self._incident(by, options),
            by,
            options,
            [f"! {by.name} is in {incident.codename}; its people are notified"],
        )

    def _redact(self, by: Person | None, options: dict[str, Any]) -> None:
        incident, n = self._incident(by, options), options["n"]
        lifecycle.redact(incident, n=n, by=by, at=timezone.now(), source=Source.TERMINAL)
        self._done(self._incident(by, options), by, options, [f"! entry {n} is redacted"])

    def _show(self, by: Person | None, options: dict[str, Any]) -> None:
        incident, reader = self._incident(by, options), by or visibility.OPERATOR
        if options["json"]:
            self._json(terminal.whole(incident, reader=reader))
        else:
            self._print(terminal.page(incident, reader=reader, style=self.style))

    def _list(self, by: Person | None, options: dict[str, Any]) -> None:
        seen = visibility.visible_to(by or visibility.OPERATOR).select_related("type", "lead")
        seen = seen.order_by("-active", "-declared_at", "-pk")
        seen = seen.filter(active=True) if options["active"] else seen
        if private := sum(one.private for one in seen):
            audit_notes.note("read", by=by, about="the list of incidents", private=private)
        if options["json"]:
            self._json([terminal.row(incident) for incident in seen])
        else:
            self._print(terminal.listing(seen) if seen else ["No incidents."])

    def _incident(self, by: Person | None, options: dict[str, Any]) -> Incident:
        try:
            incident = visibility.find(by or visibility.OPERATOR, options["codename"])
        except Incident.DoesNotExist:
            raise self._no_incident(options) from None
        audit_notes.read(incident, by=by)
        return incident

    def _no_incident(self, options: dict[str, Any]) -> CommandError:
        return CommandError(f"There is no incident {options['codename']}. Try `incident list`.")

    def _person(self, email: str) -> Person:
        known = person_matching.by_email(email)
        if known is None:
            if not EMAIL.fullmatch(email) or len(email) > EMAIL_CHARS:
                raise CommandError(f"{email[:EMAIL_CHARS]!r} is not an email address. Write it like ada@example.com.")
            self.stderr.write(f"No one had the email {email}, so a new person was added.")
            known = Person.objects.create(name=email.split("@", maxsplit=1)[0], email=email)
        return known

    def _type(self, slug: str) -> IncidentType:
        found = IncidentType.objects.usable().filter(slug=slug).first()
        if found is None:
            slugs = ", ".join(type.slug for type in IncidentType.objects.usable())
            raise CommandError(f"There is no type {slug}. Types: {slugs or 'none; run `manage.py load_types` once'}.")
        return found

    def _default_type(self) -> IncidentType:
        found = IncidentType.objects.usable().filter(is_default=True).first()
        if found is None:
            raise CommandError("No incident type is set up yet. Run `manage.py load_types` once.")
        return found

    def _done(self, incident: Incident, by: Person | None, options: dict[str, Any], lines: list[str]) -> None:
        if options["json"]:
            self._json(terminal.whole(incident, reader=by or visibility.OPERATOR))
            return
        private = ", private" if incident.private else ""
        self.stdout.write(f"{incident.codename}: {incident.policy.name}, {incident.status}{private}")
        self._print(lines)

    def _print(self, lines: Any) -> None:
        for line in lines:
            self.stdout.write(line)

    def _json(self, value: object) -> None:
        self.stdout.write(json.dumps(value, ensure_ascii=False, indent=2))
