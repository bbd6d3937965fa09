"""Fifteen seconds of spans as tracing-flame writes them: every span separately, in nanoseconds, frames after `; `."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from stack.story.profiles import parts

WINDOW_S, WORKERS = 15, 4
TOTAL_NS = WINDOW_S * WORKERS * 1_000_000_000
# Ten ticks a second, and in each of them 18 nodes call five peers.
TICKS, ATTEMPTS = 10 * WINDOW_S, 18 * 5

RUN = "gossip::net::run_gossip:src/net.rs:212"
JOIN = "gossip::net::join_peers:src/net.rs:268"
CONNECT = "iroh::endpoint::connect:src/endpoint.rs:731"
HANDSHAKE = "rustls::client::handshake:src/client/hs.rs:94"
TRANSMIT = "quinn::endpoint::transmit:src/endpoint.rs:402"
RECEIVE = "gossip::net::on_message:src/net.rs:331"
MERGE = "gossip::state::merge:src/state.rs:140"
REPORT = "gossip::metrics::report:src/metrics.rs:58"

# Thousandths of the whole for each stack below the thread; the empty stack is a waiting worker.
EARLIER = {
    (): 700,
    (RUN,): 12,
    (RUN, JOIN): 8,
    (RUN, JOIN, CONNECT): 120,
    (RUN, JOIN, CONNECT, HANDSHAKE): 70,
    (RUN, JOIN, CONNECT, TRANSMIT): 30,
    (RUN, RECEIVE): 30,
    (RUN, RECEIVE, MERGE): 18,
    (REPORT,): 12,
}
BEFORE = {
    (): 520,
    (RUN,): 12,
    (RUN, JOIN): 8,
    (RUN, JOIN, CONNECT): 190,
    (RUN, JOIN, CONNECT, HANDSHAKE): 118,
    (RUN, JOIN, CONNECT, TRANSMIT): 42,
    (RUN, RECEIVE): 40,
    (RUN, RECEIVE, MERGE): 50,
    (REPORT,): 20,
}
AFTER = {
    (): 840,
    (RUN,): 10,
    (RUN, JOIN): 6,
    (RUN, JOIN, CONNECT): 30,
    (RUN, JOIN, CONNECT, HANDSHAKE): 22,
    (RUN, JOIN, CONNECT, TRANSMIT): 8,
    (RUN, RECEIVE): 34,
    (RUN, RECEIVE, MERGE): 36,
    (REPORT,): 14,
}
MORNING = {
    (RUN,): 14,
    (RUN, JOIN): 6,
    (RUN, JOIN, CONNECT): 30,
    (RUN, JOIN, CONNECT, HANDSHAKE): 22,
    (RUN, JOIN, CONNECT, TRANSMIT): 8,
    (RUN, RECEIVE): 56,
    (RUN, RECEIVE, MERGE): 844,
    (REPORT,): 20,
}


def written(shares: Mapping[tuple[str, ...], int], *, calls: int) -> bytes:
    """Write the spans of one window in which `connect` was called that often, one line for each span change."""
    chance = parts.chance(f"gossip {calls}")
    lines: list[str] = []
    for stack, ns in parts.of_thousand(shares, total=TOTAL_NS).items():
        times = calls if CONNECT in stack else TICKS * WORKERS
        for n in range(WORKERS):
            frames = "; ".join((f"ThreadId({2 + n})-gossip-{n}", *stack))
            spans = parts.split(ns // WORKERS, times // WORKERS, by=chance)
            lines += [f"{frames} {span}\n" for span in spans]
    chance.shuffle(lines)
    return parts.packed("".join(lines))


FILES = {
    "earlier.folded.gz": partial(written, EARLIER, calls=TICKS * 50),
    "before.folded.gz": partial(written, BEFORE, calls=TICKS * ATTEMPTS),
    "after.folded.gz": partial(written, AFTER, calls=TICKS * 8),
    "morning.folded.gz": partial(written, MORNING, calls=TICKS * 8),
}
