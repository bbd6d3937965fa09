from django.apps import AppConfig


class IncidentsConfig(AppConfig):
    name = "incidents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Have the timeline sealed, and changes of types read again where they wait for a second manager."""
        from audit.sealed import rows
        from incidents.audited import sealed_rows
        from incidents.policies import type_changes  # noqa: F401  # importing the changes makes them known

        rows.keep(sealed_rows.TIMELINE)
