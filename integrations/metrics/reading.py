"""Read the metrics, at most once every few seconds however many clients ask."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final

from django.db import DatabaseError, connection, transaction
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from incidents.outages import database_watch
from integrations.metrics import counting, figures
from integrations.metrics.counting import DoorCounts
from integrations.metrics.figures import PREFIX, FigureQuery, MetricFigure

log = logging.getLogger(__name__)
FRESH_S: Final = 5.0
PATIENCE: Final = "SET LOCAL statement_timeout = '2s'"  # for each statement
DOOR_SECONDS: Final = MetricFigure(
    PREFIX + "door_seconds",
    "From a request's headers until its answer was ready, by door. Slack waits 3 s, PagerDuty 5 s.",
)
DOOR_ANSWERS: Final = MetricFigure(PREFIX + "door_answers", "Answers by door and class of status.", is_counter=True)
LIVE_STREAMS: Final = MetricFigure(PREFIX + "live_streams", "Live pages that are open.")
UP: Final = MetricFigure("database_up", "Whether the database answered everything that was asked at this scrape.")


@dataclass(slots=True, eq=False)
class Readings:
    """A Prometheus collector for metrics from the database, cached for ``FRESH_S``."""

    clock: Callable[[], float] = time.monotonic
    _read: list[Metric] = field(default_factory=list)
    _read_at: float = float("-inf")
    _one_reads: threading.Lock = field(default_factory=threading.Lock)

    def collect(self) -> Iterator[Metric]:
        """Yield every metric, without samples if the database did not answer."""
        with self._one_reads:
            if self.clock() - self._read_at >= FRESH_S:
                self._read = list(_all())
                self._read_at = self.clock()
            yield from self._read


class WebCounts:
    """A Prometheus collector for what the web processes of this machine counted."""

    def collect(self) -> Iterator[Metric]:
        """Yield how fast doors answered, the statuses of their answers, and the number of open live pages."""
        begun = counting.begun()
        counts = begun.of_all() if begun else DoorCounts()
        yield _histogram(counts)
        answers = CounterMetricFamily(DOOR_ANSWERS.name, DOOR_ANSWERS.says, labels=["door", "status"])
        for labels, count in sorted(counts.answers.items()):
            answers.add_metric(labels, count)
        yield answers
        yield GaugeMetricFamily(LIVE_STREAMS.name, LIVE_STREAMS.says, value=counts.streams)


def _histogram(counts: DoorCounts) -> Metric:
    seconds = HistogramMetricFamily(DOOR_SECONDS.name, DOOR_SECONDS.says, labels=["door"])
    edges = [*(str(edge) for edge in counting.BUCKETS), "+Inf"]
    for door, total in sorted(counts.seconds.items()):
        sums = accumulate(counts.buckets[door, place] for place in range(len(edges)))
        seconds.add_metric([door], list(zip(edges, sums, strict=True)), total)
    return seconds


def _all() -> Iterator[Metric]:
    up = True
    for question in figures.questions():
        rows = _rows(question) if up else None
        up = rows is not None
        yield from _families(question, rows or [])
    yield GaugeMetricFamily(PREFIX + UP.name, UP.says, value=int(up))


def _rows(question: FigureQuery) -> Sequence[tuple[Any, ...]] | None:
    """Run one query; None when it got no answer, in which case the remaining queries are skipped."""
    if database_watch.is_away():  # no scrape waits for a database that is known to be away
        return None
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(PATIENCE)
            cursor.execute(question.sql)
            return list(cursor.fetchall())
    except DatabaseError as error:
        log.warning("the database gave no figures: %s", type(error).__name__)
        return None


def _families(question: FigureQuery, rows: Sequence[tuple[Any, ...]]) -> Iterator[Metric]:
    width = len(question.labels)
    for n, figure in enumerate(question.figures, start=width):
        family = CounterMetricFamily if figure.is_counter else GaugeMetricFamily
        metric = family(PREFIX + figure.name, figure.says, labels=question.labels)
        for row in rows:
            metric.add_metric([str(label) for label in row[:width]], float(row[n]))
        yield metric
