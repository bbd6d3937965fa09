"""The page of all evidence: adding files and links, errors in words, withdrawal, pairs."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from evidence.formats.tests.written_jfr import recording
from evidence.intake import digesting, storage, withdrawing
from evidence.intake.storage import StorageError
from evidence.models import Evidence
from evidence.profile.errors import Unreadable
from evidence.reader import child
from evidence.related import pairs
from evidence.tests.conftest import FOLDED, Bring
from evidence.views import listing
from incidents.indexing import word_index
from incidents.models import Event, Incident, Person
from incidents.tests.conftest import Open

pytestmark = pytest.mark.django_db


def test_files_that_are_dropped_become_evidence(incident: Incident, ada: Person, browse: Open) -> None:
    files = [SimpleUploadedFile("cpu.folded", FOLDED), SimpleUploadedFile("../../etc/heap.folded", b"main;grow 4\n")]
    answer = browse(ada).post(f"/incidents/{incident.codename}/evidence/add", {"file": files}, follow=True)
    assert answer.status_code == 200
    assert "Added cpu.folded, heap.folded." in answer.content.decode()
    assert [one.title for one in Evidence.objects.order_by("n")] == ["cpu.folded", "heap.folded"]


def test_of_several_files_the_one_that_is_too_large_is_named_beside_those_that_were_added(
    incident: Incident, ada: Person, browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "FIREKIND", replace(settings.FIREKIND, evidence_max_mib=1))
    files = [SimpleUploadedFile("a.folded", FOLDED), SimpleUploadedFile("b.folded", b"x" * (1 << 20) + b"x")]
    answer = browse(ada).post(f"/incidents/{incident.codename}/evidence/add", {"file": files, "since": "0"})
    assert answer.status_code == 422
    assert "b.folded: The file is larger than the 1 MiB limit. Added a.folded" in answer.content.decode()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "Choose a file first."),
        ({"file": SimpleUploadedFile("none.folded", b"")}, "The file is empty."),
        ({"link": "ftp://x"}, "Enter a link that starts with https://"),
        ({"link": ""}, "Enter a link."),
    ],
)
def test_what_is_wrong_is_said_where_it_was_typed(
    incident: Incident, ada: Person, browse: Open, given: dict[str, object], says: str
) -> None:
    address = f"/incidents/{incident.codename}/evidence/add"
    answer = browse(ada).post(address, given)
    assert answer.status_code == 422
    assert says in answer.content.decode()
    answer = browse(ada).post(address, given, headers={"accept": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["says"].startswith(says)
    assert not Evidence.objects.exists()


def test_two_that_can_be_compared_offer_it_at_once_on_the_open_page(
    incident: Incident, ada: Person, browse: Open, bring: Bring
) -> None:
    client, address = browse(ada), f"/incidents/{incident.codename}/evidence/"
    offers = f'href="{address}compare/"'
    for title, offered in (("one", False), ("another", True)):
        bring(incident, title=title)
        looks = client.get(address), client.get(address, headers={"HX-Request": "true"})
        assert [offers in look.content.decode() for look in looks] == [offered, offered]


def test_the_list_says_what_each_shows_and_pairs_before_with_after(
    incident: Incident, ada: Person, browse: Open, bring: Bring
) -> None:
    origin = {"source": "checkout-api", "kind": "cpu"}
    bring(incident, title="CPU, slow", origin=origin, phase="during")
    bring(
        incident, b"main;serve;price_basket;hash 6\nmain;rest 94\n", title="CPU, mended", origin=origin, phase="after"
    )
    bring(incident, b"prose, and nothing else\n", title="Notes", phase="after")
    shown = browse(ada).get(f"/incidents/{incident.codename}/evidence/").content.decode()
    assert "61\N{NO-BREAK SPACE}% of samples pass through <code>hash</code>" in shown
    assert f"/incidents/{incident.codename}/evidence/compare/?control=1&amp;with=2" in shown
    assert shown.count('class="proof ') == 3


def test_withdrawn_evidence_is_gone_with_its_file_and_the_timeline_says_so(
    incident: Incident,
    ada: Person,
    ben: Person,
    browse: Open,
    bring: Bring,
    django_capture_on_commit_callbacks: Any,
) -> None:
    found = bring(incident, b"main;customer_names 7\n")
    address = f"/incidents/{incident.codename}/evidence/1/withdraw"
    assert browse(ben).post(address).status_code == 422
    with django_capture_on_commit_callbacks(execute=True):
        assert browse(ada).post(address, {"because": "names"}, follow=True).status_code == 200
    for key in (found.original, found.tree):
        with pytest.raises(StorageError):
            storage.store().local(key)
    assert browse(ada).get(f"/incidents/{incident.codename}/evidence/1/").status_code == 404
    assert "customer_names" not in browse(ada).get(f"/incidents/{incident.codename}/evidence/").content.decode()
    taken = Event.objects.get(incident=incident, kind="retracted")
    assert (taken.about_n, taken.text) == (found.event_n, "names")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"main;serve 7\n", id="profile"),
        pytest.param(b"Dear all, the server is slow.\n", id="unread"),
        pytest.param(b"BenchmarkPrice-8 100 2045 ns/op\n", id="measure"),
    ],
)
def test_every_page_of_evidence_offers_to_withdraw_it_to_those_who_may(
    incident: Incident, ada: Person, ben: Person, browse: Open, bring: Bring, body: bytes
) -> None:
    address = bring(incident, body).get_absolute_url()
    offers = f'href="{address}withdraw"'
    assert offers in browse(ada).get(address).content.decode()
    assert offers not in browse(ben).get(address).content.decode()
    Incident.objects.filter(pk=incident.pk).update(lead=ben)
    assert offers in browse(ben).get(address).content.decode()


def test_a_file_that_other_evidence_has_too_stays(
    incident: Incident, ada: Person, browse: Open, bring: Bring, django_capture_on_commit_callbacks: Any
) -> None:
    bring(incident)
    other = bring(incident)
    with django_capture_on_commit_callbacks(execute=True):
        browse(ada).post(f"/incidents/{incident.codename}/evidence/1/withdraw")
    assert storage.store().local(other.original).is_file()
    assert storage.store().local(other.tree).is_file()


def test_what_could_not_be_read_is_read_again_when_asked(
    incident: Incident, ada: Person, browse: Open, bring: Bring
) -> None:
    found = bring(incident, b"not a profile at all, sorry\n")
    answer = browse(ada).post(f"/incidents/{incident.codename}/evidence/{found.n}/again")
    assert answer.status_code == 302
    found.refresh_from_db()
    assert found.state == "reading"
    digesting.digest(found.pk, at=timezone.now())
    found.refresh_from_db()
    assert found.state == "kept"


@pytest.mark.parametrize("path", ["", "add", "panel", "1/", "1/withdraw", "1/again"])
def test_a_strangers_answer_is_that_of_an_incident_that_does_not_exist(
    secret: Incident, eve: Person, browse: Open, bring: Bring, path: str
) -> None:
    bring(secret)
    for method in ("get", "post"):
        hidden = getattr(browse(eve), method)(f"/incidents/{secret.codename}/evidence/{path}")
        absent = getattr(browse(eve), method)(f"/incidents/no-such/evidence/{path}")
        assert hidden.status_code == absent.status_code
        assert hidden.status_code in {404, 405}
        assert hidden.content == absent.content


@pytest.mark.parametrize("older", [1, 2])
@pytest.mark.parametrize("measured", [True, False])
def test_whichever_page_asks_the_older_of_two_is_before_and_a_button_swaps_them(
    incident: Incident, ada: Person, browse: Open, bring: Bring, older: int, measured: bool
) -> None:
    now = timezone.now()
    for n in (1, 2):
        bring(incident, b"main;serve %d\nmain;rest 9\n" % n)
        at = now - timedelta(hours=2 if n == older else 1)
        Evidence.objects.filter(n=n).update(**{"window_from" if measured else "added_at": at})
    client, base = browse(ada), f"/incidents/{incident.codename}/evidence/"
    newer = 3 - older
    for asking in (1, 2):
        page = client.get(f"{base}{asking}/").content.decode()
        form = re.search(r'<form class="comparing".*?</form>', page, re.DOTALL)
        assert form is not None
        sent = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\d+)">', form[0])) | {"with": 3 - asking}
        answer = client.get(f"{base}compare/", sent, follow=True)
        assert (answer.context["control"].n, answer.context["other"].n) == (older, newer)
        swapped = client.get(answer.context["swapped"])
        assert (swapped.context["control"].n, swapped.context["other"].n) == (newer, older)
    assert client.get(f"{base}compare/?of=1&with=9", follow=True).status_code == 404


def test_a_comparison_says_that_it_is_of_two_programs_and_how_rough_a_side_is(
    incident: Incident, ada: Person, browse: Open, bring: Bring
) -> None:
    bring(incident, b"main;walk 18\n")
    bring(incident, b"checkout.serve;checkout.charge_card 1829\n")
    shown = browse(ada).get(f"/incidents/{incident.codename}/evidence/compare/?control=1&with=2").content.decode()
    assert "These profiles share no functions; they are probably of different programs." in shown
    assert "Before: Only 18 samples, so percentages are rough." in shown


def test_a_function_that_the_timeline_names_finds_the_incident_until_it_is_withdrawn(
    incident: Incident, ada: Person, browse: Open, bring: Bring
) -> None:
    found = bring(incident, b"checkout.serve;checkout.charge_card 1829\n")
    asked = "/?q=charge_card"
    assert incident.title in browse(ada).get(asked).content.decode()
    word_index.index_again(incident)
    assert incident.title in browse(ada).get(asked).content.decode()
    withdrawing.withdraw(found, by=ada, at=timezone.now())
    assert "No matches." in browse(ada).get(asked).content.decode()


@pytest.mark.parametrize(("times", "said"), [(1, "6 %"), (100, "5.56 %")])
def test_a_share_of_a_few_samples_has_no_digits_that_mean_nothing(
    incident: Incident, ada: Person, browse: Open, bring: Bring, times: int, said: str
) -> None:
    found = bring(incident, f"main;walk {17 * times}\nmain;push {times}\n".encode())
    shown = browse(ada).get(found.get_absolute_url()).content.decode()
    assert f"<strong>{said}</strong>" in shown
    assert ("data-rough" in shown) == (times == 1)


def again(found: Evidence, client: Any) -> Evidence:
    """Have evidence read again, as its page offers."""
    assert client.post(f"{found.get_absolute_url()}again").status_code == 302
    digesting.digest(found.pk, at=timezone.now())
    return Evidence.objects.select_related("incident").get(pk=found.pk)


def test_what_only_one_recording_met_beside_what_both_count_parts_no_pair(incident: Incident, bring: Bring) -> None:
    burnt = recording([(("main", "price"), 60), (("main", "pay"), 40)])
    waited = recording([(("main", "wait"), 700_000)], kind=22)
    during = bring(incident, burnt + waited, title="during", phase="during")
    heap = bring(incident, recording([(("main", "keep"), 1 << 20)], kind=23), title="heap", phase="during")
    after = bring(incident, burnt, title="after", phase="after")
    (pair,) = pairs.of([after, heap, during])
    assert (pair.during, pair.after) == (during, after)


def test_what_is_read_again_to_the_same_end_has_one_entry(
    incident: Incident, ada: Person, browse: Open, bring: Bring
) -> None:
    found = again(bring(incident, b"Dear all, the server is slow.\n"), browse(ada))
    assert found.state == "kept"
    (entry,) = Event.objects.filter(incident=incident, kind="evidence")
    assert found.event_n == entry.n


def test_what_could_be_read_at_last_leaves_nothing_behind_once_it_is_withdrawn(
    incident: Incident, ada: Person, browse: Open, bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(*_given: Any, **_more: Any) -> Any:
        raise Unreadable("Customer names in line 7")

    with monkeypatch.context() as broken:
        broken.setattr(child, "read_apart", unreadable)
        found = bring(incident, title="customer-names.folded")
    assert found.state == "failed"
    found = again(found, browse(ada))
    assert found.state == "ready"
    entries = set(Event.objects.filter(incident=incident, kind="evidence").values_list("n", flat=True))
    assert len(entries) == 2
    withdrawing.withdraw(found, by=ada, at=timezone.now())
    taken = set(Event.objects.filter(incident=incident, kind="retracted").values_list("about_n", flat=True))
    assert taken == entries
    page = browse(ada).get(incident.get_absolute_url()).content.decode()
    assert "customer-names" not in page
    assert "line 7" not in page


def test_older_evidence_than_fits_on_a_page_is_one_step_away(
    incident: Incident, ada: Person, browse: Open, bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MOST", 3)
    for n in range(1, 8):
        bring(incident, title=f"CPU {n}", read=False)
    Evidence.objects.filter(incident=incident, n=4).update(state="withdrawn")
    client, address = browse(ada), f"/incidents/{incident.codename}/evidence/"
    met: list[list[str]] = []
    here = address
    while here:
        shown, again = (client.get(here, headers=how).content.decode() for how in ({}, {"HX-Request": "true"}))
        met.append(re.findall(r">(CPU \d)</a>", shown))
        assert re.findall(r">(CPU \d)</a>", again) == met[-1], "a page that is open stays where it is"
        assert ("Newest evidence" in shown) is (here != address)
        older = re.search(r'href="([^"]+\?before=\d+)">Older', shown)
        here = older[1] if older else ""
    assert met == [["CPU 7", "CPU 6", "CPU 5"], ["CPU 3", "CPU 2", "CPU 1"]]
