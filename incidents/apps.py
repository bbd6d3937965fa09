from django.apps import AppConfig


class IncidentsConfig(AppConfig):
    name = "incidents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the timeline with the audit seal, and replays with the redaction of copied words."""
        from audit.sealed import rows
        from incidents.audited import copies, sealed_rows
        from incidents.drills import replays
        from incidents.policies import type_changes  # noqa: F401  # importing the changes makes them known

        rows.keep(sealed_rows.TIMELINE)
        copies.keepers.append(replays.forget)
