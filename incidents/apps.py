from django.apps import AppConfig


class IncidentsConfig(AppConfig):
    name = "incidents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Have the timeline sealed."""
        from audit import rows
        from incidents import kept

        rows.keep(kept.TIMELINE)
