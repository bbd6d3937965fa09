"""Wiring that is done once, when the process starts."""

from django.apps import AppConfig


class Wiring(AppConfig):
    """Give the tasks their Celery application, and connect the adapters to the workflows' ports."""

    name = "config"
    verbose_name = "Firekind"

    def ready(self) -> None:
        """Wire the parts together."""
        from config import celery, checks, logs  # noqa: F401  # importing the checks registers them
        from evidence.intake import fetching
        from integrations.pagerduty.adapter.current import pagerduty
        from integrations.profilers.current import profiler
        from integrations.slack.adapter import shared_files
        from integrations.slack.adapter.current import slack
        from integrations.trackers.adapter.current import tracker
        from workflows import ports

        logs.hear_threads()
        celery.app.set_default()
        ports.connect(chat=slack, profiler=profiler, pager=pagerduty, tracker=tracker)
        fetching.connect("slack", shared_files.fetch)
        _trace()


def _trace() -> None:
    """Send spans to the collector in the settings; without one, none of that code is imported."""
    from django.conf import settings

    asked = settings.FIREKIND.tracing
    if asked is None:
        return
    from audit import tracing
    from config.process.span_export import SpanExport

    tracing.listeners.append(SpanExport(asked.endpoint, headers=asked.headers, service=asked.service).take)
