"""What `manage.py check` looks at beside Django's own: files that operators write."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from incidents.yaml_file import BadFile
from integrations.profilers import sources


@register()
def profile_sources(**_: Any) -> Sequence[CheckMessage]:
    """Name everything that is wrong in the list of profile sources, so that no stack starts on half of it."""
    path = settings.FIREKIND.profile_sources_file
    try:
        if path is not None:
            sources.read(path, environ=settings.FIREKIND.named)
    except BadFile as bad:
        return [Error(str(problem), id="firekind.E001") for problem in bad.problems]
    return []
