"""The configured profiler: the operator's list of sources, read once per process."""

from __future__ import annotations

import logging
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from incidents.policies.yaml_file import BadFile
from integrations.profilers import sources
from integrations.profilers.profiler import ListedProfiler

log = logging.getLogger(__name__)


def profiler() -> ListedProfiler | None:
    """Return the profiler for the operator's list; None when no list is configured."""
    path = settings.FIREKIND.profile_sources_file
    return _profiler(path) if path else None


@lru_cache(maxsize=4)
def _profiler(path: Path) -> ListedProfiler:
    """Read the list. A bad one captures nothing and says so; `manage.py check` reports what is wrong."""
    try:
        listed = sources.read(path, environ=settings.FIREKIND.named)
    except BadFile as bad:
        says = "no profile is captured, because the list of sources cannot be used: %s"
        log.error(says, bad)  # noqa: TRY400  # the message names file, line and field: a traceback would bury it
        listed = ()
    return ListedProfiler(listed, environ=settings.FIREKIND.named)
