"""Print the manifest with which a workspace installs the app."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand

from integrations.slack import manifest
from integrations.slack.protocol import setup


class Unset:
    """Default settings for before a workspace is connected, because the manifest is needed first."""

    command = "/incident"
    app_token = ""


class Command(BaseCommand):
    help = "Print the Slack app's manifest as JSON, to paste at api.slack.com/apps"

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the manifest for Firekind's URL."""
        made = manifest.manifest(setup.current() or Unset(), base_url=setup.base_url())
        self.stdout.write(json.dumps(made, indent=2, ensure_ascii=False))
