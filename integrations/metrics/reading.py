"""Read the figures, at most once every few seconds however many ask."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import DatabaseError, connection, transaction
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from integrations.metrics import figures
from integrations.metrics.figures import PREFIX, FigureQuery, MetricFigure

log = logging.getLogger(__name__)
FRESH_S: Final = 5.0
PATIENCE: Final = "SET LOCAL statement_timeout = '2s'"  # of each statement
UP: Final = MetricFigure("database_up", "Whether the database answered everything that was asked at this scrape.")


@dataclass(slots=True, eq=False)
class Readings:
    """A collector for Prometheus: what the database says, kept for ``FRESH_S``."""

    clock: Callable[[], float] = time.monotonic
    _read: list[Metric] = field(default_factory=list)
    _read_at: float = float("-inf")
    _one_reads: threading.Lock = field(default_factory=threading.Lock)

    def collect(self) -> Iterator[Metric]:
        """Yield every figure; without samples where the database did not answer."""
        with self._one_reads:
            if self.clock() - self._read_at >= FRESH_S:
                self._read = list(_all())
                self._read_at = self.clock()
            yield from self._read


def _all() -> Iterator[Metric]:
    up = True
    for question in figures.questions():
        rows = _rows(question) if up else None
        up = rows is not None
        yield from _families(question, rows or [])
    yield GaugeMetricFamily(PREFIX + UP.name, UP.says, value=int(up))


def _rows(question: FigureQuery) -> Sequence[tuple[Any, ...]] | None:
    """Ask one question; None when it was not answered, and then the others are not asked either."""
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
