from django.apps import AppConfig


class EvidenceConfig(AppConfig):
    name = "evidence"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Start listening for evidence that waits to be read."""
        from evidence import tasks  # noqa: F401  # importing it registers the tasks and the listener
        from evidence.findings import redacted
        from incidents.audited import copies

        copies.keepers.append(redacted.forget)
