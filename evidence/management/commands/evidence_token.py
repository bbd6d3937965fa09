from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q
from django.utils import timezone

from evidence.intake import tokens
from evidence.models.token import Scope
from incidents import lifecycle, visibility
from incidents.models import Incident, Person
from incidents.people import emails, person_matching

MOST_HOURS = 10 * 365 * 24


def _hours(said: str) -> float:
    try:
        hours = float(said)
    except ValueError:
        hours = 0.0
    if not 0 < hours <= MOST_HOURS:
        raise ArgumentTypeError(f"use a number of hours above 0, at most {MOST_HOURS:,}.")
    return hours


class Command(BaseCommand):
    help = "Create a token that lets a script act as a person, and print it. It's shown only once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("person", help="an email, username, chat ID or unique name")
        parser.add_argument("--incident", metavar="CODENAME", help="limit it to adding evidence to this incident")
        parser.add_argument(
            "--hours", type=_hours, help="hours until it expires; 12 for an incident, otherwise 90 days"
        )
        parser.add_argument(
            "--scope", action="append", choices=Scope.values, help="what it can do; default evidence:write"
        )
        parser.add_argument("--name", default="from a terminal", help="its name in the person's list of tokens")

    def handle(self, *args: Any, person: str, incident: str | None, **options: Any) -> None:
        who = _person(person)
        lasts = timedelta(hours=options["hours"]) if options["hours"] is not None else None
        try:
            only = None if incident is None else visibility.find(who, incident)
            given = {"name": options["name"], "lasts": lasts, "scopes": options["scope"]}
            issued = tokens.issue(who, at=timezone.now(), incident=only, **given)
        except Incident.DoesNotExist as error:
            raise CommandError(f"There's no incident {incident} that {who.name} can see.") from error
        except lifecycle.Refused as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(issued.secret)


def _person(said: str) -> Person:
    exact = Q(pk__in=[one.pk for one in emails.having(Person.objects.all(), said)])
    exact |= Q(chat_id=said) | Q(user__username=said)
    found = list(Person.objects.filter(exact)[:2]) or list(Person.objects.filter(name__iexact=said)[:2])
    if not found:  # an account that was created and never used
        exact = Q(pk__in=[one.pk for one in emails.having(User.objects.all(), said)])
        accounts = User.objects.filter(exact | Q(username=said))[:2]
        found = [person for account in accounts if (person := person_matching.of_user(account)) is not None]
    if len(found) != 1:
        raise CommandError(f"{'No one' if not found else 'More than one person'} is called {said}.")
    return found[0]
