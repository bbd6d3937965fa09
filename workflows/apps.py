from django.apps import AppConfig


class WorkflowsConfig(AppConfig):
    name = "workflows"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Start listening for incidents that changed."""
        from audit.sealed import heads
        from evidence.intake import hints
        from incidents.audited import copies
        from workflows import tasks  # noqa: F401  # importing them registers the tasks, and who listens
        from workflows.effects import forgetting
        from workflows.reconcile import (
            admitting,  # noqa: F401  # importing it answers who a type lets in
            out_of_reach,  # noqa: F401  # importing it answers what ending cannot reach
            publishing,  # noqa: F401  # importing it answers where a summary is published
            reopening,  # noqa: F401  # importing it answers who reopening reaches
        )
        from workflows.status import audit_head, workers
        from workflows.usergroups import changes  # noqa: F401  # importing them makes them known

        copies.keepers.append(forgetting.forget)
        heads.publishers.append(audit_head.post)
        hints.absences.append(workers.evidence_gone_since)
