"""Celery's threads for tasks, without ending the worker when the system has no further thread to spare."""

from __future__ import annotations

from typing import Any

from celery.concurrency.thread import TaskPool

from incidents.claiming.patient_threads import PatientThreads


class TaskThreads(TaskPool):
    """Tasks wait for the threads there are. Celery's own pool raises an error, which ends the worker."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.executor = PatientThreads(self.limit, thread_name_prefix="task")

    def on_start(self) -> None:
        """Start the first thread, so that there is always one; without it, the process may as well end."""
        super().on_start()
        self.executor.submit(int)
