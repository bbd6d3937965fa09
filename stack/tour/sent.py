"""Evidence from an affected host: sent with a token, read, compared, downloaded, and closed with its incident."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from stack.outside import collector
from stack.story import profiles
from stack.story.stage import Stage
from stack.supervisor.running import Stack
from stack.tour import measures
from stack.tour.after import Tour

TITLE = "Every node of the mesh is warm"
CONNECT = "iroh::endpoint::connect"
PUSHED, HASH = 3, "checkout.hash_cart"
FILES = {"before.folded.gz": ("during", 0.35), "after.folded.gz": ("after", 0.06)}


def evidence(tour: Tour, stack: Stack) -> None:
    """Send two profiles, view them in every way, then make the incident private and look again as others."""
    stage = Stage(tour.workspace, tour.records, tour.stage.account, tour.stage.desk, tour.stage.tell)
    stage.declares("kofi", f"/incident declare time-bomb: {TITLE}", where="platform")
    stage.watches()
    _sent(tour, stage)
    _read(tour, stage)
    _from_a_collector(tour, stage, stack)
    _in_a_terminal(tour, stack)
    _private(tour, stage)


def _sent(tour: Tour, stage: Stage) -> None:
    api, path = stage.desk.api("kofi"), f"/api/v1/incidents/{stage.codename}/evidence"
    for n, (name, (phase, _)) in enumerate(FILES.items(), start=1):
        query = {"title": f"Spans, {phase}", "phase": phase, "source": "node-7", "wait": "30"}
        status, answer = api.ask("POST", path, profiles.make("gossip", name), **query)
        tour.checks.so(f"{name} is taken in as evidence {n}", (status, answer.get("n")) == (201, n), instead=answer)
    stage.watches()
    status, answer = api.ask("GET", f"{path}/1")
    said = str(answer.get("says"))
    right = status == 200 and said.startswith(f"35 % of wall time is spent in `{CONNECT}`")
    tour.checks.so("the API gives its sentence back", right, instead=answer)
    warned = any("52 % of it is idle" in guard for guard in answer.get("guards", ()))
    tour.checks.so("and warns that half of it is idle", warned, instead=answer)


def _read(tour: Tour, stage: Stage) -> None:
    hannah, below = tour.visitors["hannah"], f"/incidents/{stage.codename}/evidence/"
    for n, (_, share) in enumerate(FILES.values(), start=1):
        measures.searched(tour.checks, hannah, stage.codename, n, text=CONNECT, share=share)
    compared = hannah.get(f"{below}compare/?control=1&with=2").text
    tour.checks.so("side by side it says 35.0 % → 6.00 %", CONNECT in compared and "35.0 % → 6.00 %" in compared)
    same = hannah.get(f"{below}1/original").body == profiles.make("gossip", "before.folded.gz")
    tour.checks.so("the original comes back byte for byte", same)
    folded = hannah.get(f"{below}1/folded").source
    total = sum(int(line.rpartition(" ")[2]) for line in folded.splitlines())
    tour.checks.so("folded, it adds up to 60 s of four threads", total == 60_000_000_000, instead=total)


def _from_a_collector(tour: Tour, stage: Stage, stack: Stack) -> None:
    """Push what a Collector written in Go marshals, with the dictionary first, by `curl`."""
    samples = [(("main", "serve", HASH), 71), (("main", "serve", "write"), 20), (("main", "sleep"), 9)]
    body = collector.request(samples, service="checkout-api")
    status = collector.push(stack.base_url, stage.desk.api("kofi").token, stage.codename, body)
    tour.checks.so("curl pushes what Go's Collector marshals", status == 200, instead=status)
    stage.reads(PUSHED)
    row = next((one for one in tour.records.evidence(stage.codename) if one["n"] == PUSHED), {})
    tour.checks.so("it is read as a profile", (row.get("kind"), row.get("state")) == ("profile", "ready"), instead=row)
    said = [event for event in tour.records.events(stage.codename) if event["kind"] == "evidence"]
    tour.checks.so("it is on the timeline", [event["data"]["n"] for event in said].count(PUSHED) == 1, instead=said)
    below = f"/incidents/{stage.codename}/evidence/{PUSHED}/"
    drawn = tour.visitors["hannah"].get(f"{below}svg")
    tour.checks.so("as a flame graph with its functions", drawn.status == 200 and HASH in drawn.source)
    measures.searched(tour.checks, tour.visitors["hannah"], stage.codename, PUSHED, text=HASH, share=0.71)


def _in_a_terminal(tour: Tour, stack: Stack) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = profiles.write("gossip", Path(folder))
        file = next(str(path) for path in paths if path.name == "before.folded.gz")
        said = json.loads(stack.manage("profile", file, "--json", "--search", CONNECT).stdout)
    types = [(one["unit"], one["total"]) for one in said["sample_types"]]
    known = {one["name"]: one["total"] for one in said["functions"]}
    tour.checks.so("manage.py profile says the same", types == [("nanoseconds", 60_000_000_000)], instead=types)
    tour.checks.so("and exactly how much of it is connect", known.get(CONNECT) == 21_000_000_000, instead=known)


def _private(tour: Tour, stage: Stage) -> None:
    stage.types("kofi", "/incident retype security because it sends what it should not")
    stage.workspace.submit("kofi")
    stage.watches()
    measures.hidden_from(tour.checks, tour.visitors["hannah"], stage.codename, who="Once it is private, Hannah")
    path = f"/api/v1/incidents/{stage.codename}/evidence"
    token = stage.desk.api("hannah")
    asked = {method: token.ask(method, path, body)[0] for method, body in (("GET", None), ("POST", b"a 1\n"))}
    tour.checks.so("her token gets 404 as well", set(asked.values()) == {404}, instead=asked)
    tour.checks.so("and nothing of it was kept", len(tour.records.evidence(stage.codename)) == PUSHED)
