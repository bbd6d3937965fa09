"""A person who was paged and has not acknowledged is told so on the incident's page, in agreement with the pager."""

from __future__ import annotations

import random
import re
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incidents.models import Person
from integrations.tests.duty import ON_CALL, Duty
from integrations.tests.test_pages_laws import ACTS, TYPES, Night, night
from workflows.models import Page

WHO = [*ON_CALL.values(), "dee"]

steps = st.one_of(
    st.tuples(st.just("retype"), st.sampled_from(TYPES)),
    st.tuples(st.just("act"), st.tuples(st.sampled_from(ACTS), st.integers(0, 9))),
    st.tuples(st.just("pass_on"), st.tuples(st.sampled_from(WHO), st.integers(0, 9))),
    st.tuples(st.just("deliver"), st.tuples(st.integers(0, 99), st.booleans())),
    st.tuples(st.just("over"), st.booleans()),
    st.tuples(st.just("settle"), st.integers(1, 3)),
    st.tuples(st.just("poll"), st.none()),
)


def told(found: Night, handle: str) -> list[str] | None:
    """Return what the top of the incident's page says a person was paged for; None if they may not see it."""
    person = found.duty.house.person(handle)
    if person.user is None:
        person.user = User.objects.create_user(handle)
        Person.objects.filter(pk=person.pk).update(user=person.user)
    client = Client()
    client.force_login(person.user)
    answer = client.get(found.incident.get_absolute_url())
    if answer.status_code == 404:
        return None
    return re.findall(r'data-paged="(\w+)"', answer.content.decode())


def as_the_pager_has_it(found: Night, handle: str) -> list[str]:
    """Return the account's state: which of our pages are open, who they page now, and who they paged before."""
    account = {one.key: one for one in found.duty.account.account.incidents.values()}
    user = found.duty.account.user(handle).id
    rang = {one.incident for one in found.duty.account.rang if one.user == user}
    said = []
    for page in Page.objects.filter(incident=found.incident):
        one = account[page.dedup_key]
        if one.status == "triggered" and user in one.assignees:
            said.append("now")
        elif one.status == "triggered" and one.id in rang:
            said.append("before")
    return sorted(said)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    first=st.sampled_from(TYPES),
    story=st.lists(steps, min_size=2, max_size=14),
    order=st.randoms(use_true_random=False),
)
def test_the_page_tells_whoever_was_paged_what_the_pager_says(
    built_duty: Duty, db: None, first: str, story: list[tuple[str, Any]], order: random.Random
) -> None:
    with night(built_duty, first) as found:
        found.live_through(story, order)
        for handle in WHO:
            said = told(found, handle)
            assert said is None or sorted(said) == as_the_pager_has_it(found, handle), handle
