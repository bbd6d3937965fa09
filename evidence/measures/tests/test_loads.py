from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.measures import loadtest, sniff
from evidence.measures.loads import times
from evidence.measures.loadtest import Run
from evidence.profile.errors import BadProfile, TooMuch

AB = """This is ApacheBench, Version 2.3 <$Revision: 1 $>

Server Software:        Puma
Server Hostname:        127.0.0.1
Server Port:            9292

Document Path:          /slow
Document Length:        12 bytes

Concurrency Level:      10
Time taken for tests:   8.160 seconds
Complete requests:      200
Failed requests:        3
Non-2xx responses:      1
Keep-Alive requests:    {kept}
Total transferred:      20000 bytes
Requests per second:    24.51 [#/sec] (mean)
Time per request:       {mean} [ms] (mean)
Time per request:       40.8 [ms] (mean, across all concurrent requests)

Connection Times (ms)
              min  mean[+/-sd] median   max
Total:        203  408  23.1    415     435

Percentage of the requests served within a certain time (ms)
  50%    {half}
  66%    418
  90%    {tail}
  99%    {tail}
 100%    {longest} (longest request)
"""
WITHOUT = AB.format(kept=0, mean="408.000", half=415, tail=435, longest=435)
WITH = AB.format(kept=180, mean="410.000", half=202, tail=2030, longest=2453)

HEY = """
Summary:
  Total:\t4.0123 secs
  Slowest:\t0.4350 secs
  Fastest:\t0.2010 secs
  Average:\t0.3010 secs
  Requests/sec:\t49.8467

Response time histogram:
  0.201 [1]\t|
  0.435 [99]\t|■■■■

Latency distribution:
  10% in 0.2102 secs
  50% in 0.3001 secs
  99% in 0.4300 secs

Status code distribution:
  [200]\t190 responses
  [503]\t6 responses

Error distribution:
  [4]\tGet "http://127.0.0.1/": context deadline exceeded
"""

WRK = """Running 30s test @ http://127.0.0.1:8080/index.html
  12 threads and 400 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  Latency Distribution
     50%  250.00us
     75%  491.00us
     90%  700.00us
     99%    5.80ms
  22464657 requests in 30.00s, 17.76GB read
  Socket errors: connect 0, read 7, write 0, timeout 2
  Non-2xx or 3xx responses: 10
Requests/sec: 748868.53
Transfer/sec:    606.33MB
"""

WRK2 = """Running 10s test @ http://127.0.0.1:80/
  2 threads and 100 connections
  Thread calibration: mean lat.: 9747 usec, rate sampling interval: 21 msec
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     6.46ms    1.93ms  12.34ms   67.66%
    Req/Sec     1.05k     1.12k    2.50k    64.84%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    6.67ms
 99.000%    1.02s
100.000%    1.50s

  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)
       0.921     0.000000            1         1.00
----------------------------------------------------------

  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))
 50.000%    0.10ms
 99.000%    0.20ms
  20000 requests in 10.00s, 1.2MB read
Requests/sec:   1999.00
"""

K6 = """
     http_req_blocked...............: avg=57.62ms min=7µs med=12.25µs max=1.35s p(90)=209.41ms p(95)=763.61ms
     http_req_duration..............: avg=144.56ms min=104.11ms med=110.47ms max=1.14s p(90)=203.54ms p(95)=215.95ms
       { expected_response:true }...: avg=1ms min=1ms med=1ms max=1ms p(90)=1ms p(95)=1ms
     http_req_failed................: 1.11%  ✓ 2        ✗ 178
     http_reqs......................: 180    4.36938/s
     vus_max........................: 20     min=20     max=20
"""
K6_SINCE_1 = """
  █ TOTAL RESULTS

    HTTP
    http_req_duration..................: avg=140.36ms min=119.08ms med=140.96ms max=1m1.5s p(90)=146.88ms p(95)=148.21ms
    http_req_failed....................: 4.44%  2 out of 45
    http_reqs..........................: 45     6.561089/s
"""
TIMES = {"avg": 144.5, "min": 104.1, "med": 110.4, "max": 1140.2, "p(90)": 203.5, "p(95)": 215.9}
K6_EXPORT = {
    "metrics": {
        "http_req_duration": TIMES,
        "http_req_failed": {"passes": 2, "fails": 178, "value": 0.011},
        "http_reqs": {"count": 180, "rate": 4.3},
    }
}
K6_HANDLED = {"metrics": {name: {"type": "any", "values": values} for name, values in K6_EXPORT["metrics"].items()}}

OHA = """Summary:
  Success rate:\t100.00%
  Total:\t1.2001 secs
  Slowest:\t0.0143 secs
  Fastest:\t0.0011 secs
  Average:\t0.0021 secs
  Requests/sec:\t1666.52

Response time distribution:
  10.00% in 0.0015 secs
  50.00% in 0.0019 secs
  99.00% in 0.0110 secs

Status code distribution:
  [200] 1998 responses

Error distribution:
  [2] connection closed
"""
OHA_SINCE = OHA.replace("0.0143 secs", "14.3000 ms").replace("0.0110 secs", "11.0000 ms")
OHA_JSON = {
    "summary": {"successRate": 1.0, "total": 1.2, "slowest": 0.0143, "average": 0.0021, "requestsPerSec": 1666.5},
    "latencyPercentiles": {"p50": 0.0019, "p99": 0.011, "p99.9": 0.014, "p99.99": None},
    "statusCodeDistribution": {"200": 1998, "500": 1},
    "errorDistribution": {"connection closed": 1},
}
VEGETA = """Requests      [total, rate, throughput]         300, 5.02, 1.62
Duration      [total, attack, wait]             2m56s, 59.8s, 1m56s
Latencies     [min, mean, 50, 90, 95, 99, max]  68.063ms, 6.124s, 113.6ms, 222.6ms, 1m0s, 2m0s, 2m0s
Success       [ratio]                           95.00%
"""


def only(text: str) -> Run:
    data = text.encode()
    module = sniff(data)
    assert module is loadtest
    value = loadtest.read(data)
    assert loadtest.from_dict(json.loads(json.dumps(value.as_dict()))) == value
    [run] = value.runs
    return run


@pytest.mark.parametrize(
    ("text", "tool", "counts", "latencies", "last"),
    [
        (WITHOUT, "ab", (200, 3, 24.51), (408.0, 435, 415), (99, 435)),
        (HEY, "hey", (200, 10, 49.8467), (301.0, 435, 300.1), (99, 430)),
        (WRK, "wrk", (22464657, 19, 748868.53), (0.63591, 12.92, 0.25), (99, 5.8)),
        (WRK2, "wrk2", (20000, 0, 1999.0), (6.46, 1500, 6.67), (99, 1020)),
        (K6, "k6", (180, 2, 4.36938), (144.56, 1140, 110.47), (95, 215.95)),
        (K6_SINCE_1, "k6", (45, 2, 6.561089), (140.36, 61500, 140.96), (95, 148.21)),
        (json.dumps(K6_EXPORT), "k6", (180, 2, 4.3), (144.5, 1140.2, 110.4), (95, 215.9)),
        (json.dumps(K6_HANDLED), "k6", (180, 2, 4.3), (144.5, 1140.2, 110.4), (95, 215.9)),
        (OHA, "oha", (2000, 2, 1666.52), (2.1, 14.3, 1.9), (99, 11)),
        (OHA_SINCE, "oha", (2000, 2, 1666.52), (2.1, 14.3, 1.9), (99, 11)),
        (json.dumps(OHA_JSON), "oha", (2000, 2, 1666.5), (2.1, 14.3, 1.9), (99.9, 14)),
        (VEGETA, "vegeta", (300, 15, 5.02), (6124, 120000, 113.6), (99, 120000)),
    ],
)
def test_each_tool_says_the_same_things_in_its_own_words(
    text: str, tool: str, counts: tuple[int, int, float], latencies: tuple[float, ...], last: tuple[float, float]
) -> None:
    run = only(text)
    assert (run.tool, (run.requests, run.failed, run.rps)) == (tool, counts)
    assert (run.mean_ms, run.longest_ms, run.within(50)) == pytest.approx(latencies)
    assert run.percentiles[-1] == pytest.approx(last)


def test_what_oha_cuts_off_as_its_time_is_over_did_not_fail() -> None:
    """``-z`` always ends with requests under way, which oha's own success rate leaves out."""
    text = OHA.replace("[2] connection closed", "[50] aborted due to deadline\n  [2] connection closed")
    errors = {"connection closed": 1, "aborted due to deadline": 50}
    for said, known in ((text, OHA), (json.dumps({**OHA_JSON, "errorDistribution": errors}), json.dumps(OHA_JSON))):
        run, without = only(said), only(known)
        assert (run.requests, run.failed) == (without.requests, without.failed)
        assert run.notes == [*without.notes, "50 requests were cut off by the end of the test"]


@pytest.mark.parametrize(
    ("requests", "success", "codes", "failed"),
    [
        (118_737_960, "99.99", "0:12573  200:106848930  204:11876457  ", 12_573),
        (1_000_000, "100.00", "200:999997  503:3", 3),
        (300, "95.00", "0:15  200:285", 15),
        (300, "100.00", "200:290  302:10  ", 0),
        (300, "95.00", "", 15),
        (1_000_000, "100.00", "", None),  # up to 49 of them may have failed
    ],
)
def test_how_many_failed_is_what_vegeta_counted_and_not_a_rounded_share(
    requests: int, success: str, codes: str, failed: int | None
) -> None:
    text = VEGETA.replace(" 300,", f" {requests},").replace("95.00%", f"{success}%")
    run = only(f"{text}Status Codes  [code:count]                      {codes}\nError Set:\n" if codes else text)
    assert (run.requests, run.failed) == (requests, failed)
    assert run.notes == ([f"{success} % succeeded"] if failed is None else [])


def test_a_run_says_its_half_its_tail_and_its_longest() -> None:
    assert loadtest.sentence(loadtest.read(WITHOUT.encode())) == (
        "200 requests: half within 415 ms, 99 % within 435 ms, longest 435 ms, 24.5 requests a second, 3 failed, "
        "1 not 2xx"
    )


def test_two_runs_of_one_file_say_where_they_differ_and_that_the_means_do_not() -> None:
    value = loadtest.read((WITHOUT + WITH).encode())
    assert len(value.runs) == 2
    assert loadtest.sentence(value) == "90 % of requests: 435 ms → 2,030 ms with keep-alive; mean alike"


def test_runs_alike_are_called_alike() -> None:
    assert "alike" in loadtest.sentence(loadtest.read((WITHOUT + WITHOUT).encode()))


def test_runs_without_a_percentile_in_common_compare_their_longest() -> None:
    one, other = Run("a", percentiles=[(50, 1.0)], longest_ms=10), Run("b", percentiles=[(75, 1.0)], longest_ms=30)
    assert loadtest.compared([one, other], labels=["a", "b"]) == "longest request: 10 ms → 30 ms with b"


@pytest.mark.parametrize(
    ("said", "ms"),
    [
        ("1m2.5s", 62500),
        ("635.91us", 0.63591),
        ("12µs", 0.012),
        ("0.43 secs", 430),
        ("0s", 0),
        ("2h", 7.2e6),
        ("5m", 3e5),
    ],
)
def test_times_of_every_spelling(said: str, ms: float) -> None:
    assert times.ms(said) == pytest.approx(ms)


@pytest.mark.parametrize("said", ["", "fast", "12", "3 ms or so"])
def test_what_is_no_time_is_refused(said: str) -> None:
    with pytest.raises(BadProfile):
        times.ms(said)


@pytest.mark.parametrize(
    "text",
    [
        WITHOUT.partition("Connection Times")[0].replace("Time per request:", "Time a request:"),
        '{"metrics": {"http_req_duration": {"avg": "fast"}}}',
        '{"metrics": {"http_req_duration": 3}}',
        '{"summary": 1, "latencyPercentiles": 2, "requestsPerSec": 3}',
        '{"latencyPercentiles": "requestsPerSec": ',
        '{"metrics": {"http_req_duration": {"avg": Infinity, "max": NaN, "p(90)": 1e400}}}',
        HEY.replace("0.4350", "9" * 400),
    ],
)
def test_a_report_that_was_cut_short_or_broken_says_so(text: str) -> None:
    with pytest.raises(BadProfile):
        loadtest.read(text.encode())


def test_more_runs_than_a_page_shows_are_refused() -> None:
    with pytest.raises(TooMuch):
        loadtest.read((WITHOUT * 60).encode())


@given(st.sampled_from([WITHOUT, HEY, WRK, WRK2, K6, OHA, VEGETA, json.dumps(OHA_JSON)]), st.data())
def test_a_report_cut_anywhere_is_read_or_refused_in_words(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    junk = data.draw(st.text(max_size=20))
    with suppress(BadProfile, TooMuch):
        value = loadtest.read((text[:cut] + junk + text[cut + len(junk) :]).encode("utf-8", "surrogatepass"))
        assert loadtest.sentence(value)
        assert json.dumps(value.as_dict(), allow_nan=False)


def test_errors_that_are_quick_are_no_improvement() -> None:
    before = Run("hey", requests=200, failed=0, mean_ms=410, percentiles=[(50, 202)])
    after = Run("hey", requests=200, failed=200, mean_ms=2.2, percentiles=[(50, 2)])
    said = loadtest.compared([before, after], labels=["before", "after"])
    assert said == "50 % of requests: 202 ms → 2 ms after; mean 410 ms → 2.20 ms; none failed → 200 failed"
    alike = Run("hey", requests=200, failed=9, mean_ms=410, percentiles=[(50, 202)])
    assert loadtest.compared([before, alike], labels=["a", "b"]).endswith("; none failed → 9 failed")
    assert "failed" not in loadtest.compared([before, before], labels=["a", "b"])


def test_a_server_that_answers_errors_alone_is_not_said_to_answer() -> None:
    text = WITHOUT.replace("Failed requests:        3\nNon-2xx responses:      1", "Non-2xx responses:      200")
    assert loadtest.sentence(loadtest.read(text.encode())).endswith("24.5 requests a second, 200 not 2xx")
