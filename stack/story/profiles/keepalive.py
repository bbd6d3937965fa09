"""ab's output for 200 requests from 10 clients, to a server that takes 200 ms for each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from stack.story.profiles import parts

REQUESTS, CLIENTS = 200, 10
LEVELS = (50, 66, 75, 80, 90, 95, 98, 99, 100)
TEXT = """\
This is ApacheBench, Version 2.3 <$Revision: 1913912 $>

Benchmarking app.example.com (be patient).....done


Server Software:
Server Hostname:        app.example.com
Server Port:            9292

Document Path:          /work
Document Length:        12 bytes

Concurrency Level:      {clients}
Time taken for tests:   {seconds:.3f} seconds
Complete requests:      {requests}
Failed requests:        0
{keep}Total transferred:      {sent} bytes
HTML transferred:       {body} bytes
Requests per second:    {rate:.2f} [#/sec] (mean)
Time per request:       {mean:.3f} [ms] (mean)
Time per request:       {each:.3f} [ms] (mean, across all concurrent requests)
Transfer rate:          {kib:.2f} [Kbytes/sec] received

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    0   0.1      0       1
Processing: {min:5d} {mean_ms:4d} {sd:5.1f} {median:6d} {max:7d}
Waiting:    {min:5d} {mean_ms:4d} {sd:5.1f} {median:6d} {max:7d}
Total:      {min:5d} {mean_ms:4d} {sd:5.1f} {median:6d} {max:7d}

Percentage of the requests served within a certain time (ms)
{levels} (longest request)
"""


def without() -> list[int]:
    """Return the times in ms if each request uses its own connection: everyone waits one turn."""
    return [*_rising(366, 413, 90), *_rising(414, 416, 20), *_rising(417, 435, 90)]


def with_it() -> list[int]:
    """Return the times in ms over kept connections: most return at once, and those behind them wait for ten others."""
    return [*_rising(200, 202, 101), *_rising(202, 226, 79), *_rising(2030, 2453, 20)]


def printed(times: Sequence[int], *, kept: bool) -> bytes:
    """Print times, sorted and in ms, as ab does."""
    mean = sum(times) / len(times)
    seconds = sum(times) / CLIENTS / 1000
    body, head = 12, 77 + 24 * kept
    levels = "\n".join(f"{level:>4}%  {_level(times, level):>5}" for level in LEVELS)
    return TEXT.format(
        clients=CLIENTS,
        requests=REQUESTS,
        keep=f"Keep-Alive requests:    {REQUESTS}\n" if kept else "",
        seconds=seconds,
        sent=REQUESTS * (body + head),
        body=REQUESTS * body,
        rate=REQUESTS / seconds,
        mean=mean,
        each=mean / CLIENTS,
        kib=REQUESTS * (body + head) / 1024 / seconds,
        min=times[0],
        mean_ms=round(mean),
        sd=(sum((one - mean) ** 2 for one in times) / (len(times) - 1)) ** 0.5,
        median=_level(times, 50),
        max=times[-1],
        levels=levels,
    ).encode()


def _level(times: Sequence[int], percent: int) -> int:
    """Return the percentile as ab does: the time at that share of the sorted list."""
    return times[min(len(times) * percent // 100, len(times) - 1)]


def _rising(first: int, last: int, count: int) -> list[int]:
    chance = parts.chance(f"{first}-{last}")
    steps = sorted(chance.random() for _ in range(count - 2))
    return [first, *(first + int((last - first) * step) for step in steps), last]


FILES = {
    "without-keep-alive.txt": partial(printed, without(), kept=False),
    "with-keep-alive.txt": partial(printed, with_it(), kept=True),
}
