"""The documentation about PagerDuty is true."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

from integrations.pagerduty.tests.test_requests import requests_in_the_code

TEXT = (Path(settings.BASE_DIR) / "docs/oncall.md").read_text(encoding="utf-8")


def test_the_table_of_what_the_key_is_used_for_is_complete() -> None:
    rows = re.findall(r"^\| `([A-Z]+ /\S+)` \| .+ \|$", TEXT, re.MULTILINE)
    assert sorted(rows) == sorted(set(requests_in_the_code()))
