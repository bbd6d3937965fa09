"""The metrics read from the database at a scrape: one table of queries, each a single bounded statement.

Labels contain only our own terms or those of a vendor's protocol, never a codename, a title or a person's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from audit.sealed.rows import KEPT
from workflows.effects.effect_queue import SLOW
from workflows.status import workers

PREFIX: Final = "firekind_"
NEWEST: Final = 1_000  # effects whose duration is measured
WINDOW: Final = "15 minutes"
AT_MOST: Final = 100_000  # unsealed rows to count at most
CODES: Final = 100  # error codes to report, the most frequent ones


@dataclass(frozen=True, slots=True)
class MetricFigure:
    """One metric: its name without the prefix, and its help text."""

    name: str
    says: str
    is_counter: bool = False


@dataclass(frozen=True, slots=True)
class FigureQuery:
    """One statement whose rows hold a value for each label, then one for each metric."""

    labels: tuple[str, ...]
    figures: tuple[MetricFigure, ...]
    sql: str


EFFECTS: Final = FigureQuery(
    ("state", "kind"),
    (
        MetricFigure("effects", "Effects that are waiting, running, or failed in an active incident that is no drill."),
        MetricFigure("effects_oldest_seconds", "Age of the oldest of them; of failed ones, since it failed."),
    ),
    """
    SELECT state, kind, count(*), extract(epoch FROM clock_timestamp() - min(created_at)) FROM workflows_effect
     WHERE state IN ('waiting', 'running') GROUP BY state, kind
    UNION ALL
    SELECT 'failed', effect.kind, count(*), extract(epoch FROM clock_timestamp() - min(effect.ended_at))
      FROM incidents_incident incident JOIN workflows_effect effect ON effect.incident_id = incident.id
     WHERE incident.active AND NOT incident.is_drill AND effect.state = 'failed' GROUP BY effect.kind
    """,
)
# From the last human action before the effect was planned. Effects that the system starts by itself, such as a handover
# hours later, count from their plan. Effects that are slow by nature, such as a capture, are not counted.
COMMANDS: Final = FigureQuery(
    ("quantile",),
    (
        MetricFigure(
            "command_to_done_seconds",
            f"From a command to the effects it caused: those done within {WINDOW}, of the newest {NEWEST:,}.",
        ),
    ),
    f"""
    WITH took AS (
        SELECT extract(epoch FROM ended_at - coalesce(
            (SELECT recorded_at FROM incidents_event event
              WHERE event.incident_id = effect.incident_id AND event.recorded_at <= effect.created_at
                AND event.recorded_at > effect.created_at - interval '1 minute' AND event.source <> 'system'
              ORDER BY event.n DESC LIMIT 1), created_at)) AS seconds
          FROM (SELECT * FROM workflows_effect ORDER BY id DESC LIMIT {NEWEST}) effect
         WHERE state = 'done' AND ended_at > now() - interval '{WINDOW}'
           AND kind NOT IN ({", ".join(f"'{kind}'" for kind in sorted(SLOW))}))
    SELECT quantile, (SELECT percentile_disc(quantile::float) WITHIN GROUP (ORDER BY seconds) FROM took)
      FROM unnest(ARRAY['0.5', '0.95', '1']) quantile WHERE EXISTS (SELECT FROM took)
    """,  # noqa: S608 (constants of ours)
)
SWEEP: Final = FigureQuery(
    (),
    (
        MetricFigure("incidents_unplanned", "Incidents whose newest facts were not planned yet; counted up to 500."),
        MetricFigure("sweep_lag_seconds", "How late the sweep is: the oldest unplanned fact, or overdue reminder."),
    ),
    """
    SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - least(min(fact_at),
           (SELECT min(update_due_at) FROM incidents_incident WHERE update_due_at < now()))), 0)
      FROM (SELECT (SELECT recorded_at FROM incidents_event event
                     WHERE event.incident_id = incident.id AND event.n = incident.last_n) AS fact_at
              FROM (SELECT DISTINCT incident_id FROM workflows_unplanned LIMIT 500) moved
              JOIN incidents_incident incident ON incident.id = moved.incident_id) behind
    """,
)
EVIDENCE: Final = FigureQuery(
    (),
    (
        MetricFigure("evidence_queue", "Pieces of evidence that are not read yet."),
        MetricFigure("evidence_queue_oldest_seconds", "Age of the oldest of them."),
    ),
    """
    SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(added_at)), 0) FROM evidence_evidence
     WHERE state = 'reading'
    """,
)
WEBHOOKS: Final = FigureQuery(
    (),
    (
        MetricFigure("webhooks_waiting", "Webhooks of PagerDuty that were stored and not acted on yet."),
        MetricFigure("webhooks_waiting_oldest_seconds", "Age of the oldest of them."),
    ),
    """
    SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(received_at)), 0) FROM pagerduty_webhook
     WHERE state = 'waiting'
    """,
)
PROCESSES: Final = FigureQuery(
    ("kind",),
    (
        MetricFigure("processes", "Workers and evidence workers that were seen in the last 20 seconds."),
        MetricFigure("processes_seen_seconds", "Since when none of a kind was seen; for ever where none ever was."),
    ),
    f"""
    SELECT kind, count(*) FILTER (WHERE seen_at > now() - interval '20 seconds'),
           coalesce(extract(epoch FROM clock_timestamp() - max(seen_at)), 'infinity')
      FROM unnest(ARRAY[{", ".join(f"'{kind}'" for kind in workers.KINDS)}]) kind
      LEFT JOIN workflows_workerprocess USING (kind) GROUP BY kind
    """,  # noqa: S608 (constants of ours)
)
BROKER: Final = FigureQuery(
    (),
    (MetricFigure("broker_silent_seconds", "Since when a living worker gets nothing from the broker; 0: it does."),),
    """
    SELECT coalesce(extract(epoch FROM clock_timestamp() - min(alone_since)), 0) FROM workflows_workerprocess
     WHERE seen_at > now() - interval '20 seconds'
    """,
)
LIMITS: Final = FigureQuery(
    ("vendor",),
    (
        MetricFigure("vendor_limited_methods", "Methods that a vendor's rate limit stops now."),
        MetricFigure("vendor_limited_seconds", "How much longer the longest of these limits holds."),
    ),
    """
    SELECT vendor, count(*), extract(epoch FROM max(blocked_until) - clock_timestamp()) FROM workflows_limit
     WHERE blocked_until > now() GROUP BY vendor
    """,
)
ERRORS: Final = FigureQuery(
    ("vendor", "code"),
    (
        MetricFigure(
            "vendor_errors", "Calls for effects that ended in an error, by the vendor's code.", is_counter=True
        ),
    ),
    f"SELECT port, code, count FROM workflows_vendorerrors ORDER BY count DESC LIMIT {CODES}",  # noqa: S608 (a constant of ours)
)


def _sealing() -> FigureQuery:
    """Build the query that counts, for each sealed table, the rows above those that the newest seal covers."""
    asked = " UNION ALL ".join(
        f"""
        SELECT '{kept.name}', count(*), coalesce(extract(epoch FROM clock_timestamp() - min(at)), 0)
          FROM (SELECT {kept.at} AS at FROM {kept.table}
                 WHERE {kept.id} > coalesce((SELECT (tops ->> '{kept.name}')::bigint FROM audit_seal
                                              ORDER BY n DESC LIMIT 1), 0)
                 LIMIT {AT_MOST}) behind
        """  # noqa: S608 (constants of ours)
        for kept in KEPT.values()
    )
    figures = (
        MetricFigure("audit_unsealed_rows", f"Rows that no seal covers yet; counted up to {AT_MOST:,}."),
        MetricFigure("audit_unsealed_oldest_seconds", "Age of the oldest of them."),
    )
    return FigureQuery(("table",), figures, asked)


def questions() -> tuple[FigureQuery, ...]:
    """Return every query of a scrape."""
    return (EFFECTS, COMMANDS, SWEEP, EVIDENCE, WEBHOOKS, PROCESSES, BROKER, LIMITS, ERRORS, _sealing())
