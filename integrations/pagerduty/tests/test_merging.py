"""Requests and webhooks agree on what an incident was merged into, whatever the fields contain."""

from __future__ import annotations

from typing import Any

import pytest

from integrations.pagerduty.protocol import merging
from workflows.pager_port import MergedInto

URL = "https://acme.pagerduty.com/incidents/Q1"


def merged(**there: Any) -> dict[str, Any]:
    return {"resolve_reason": {"type": "merge_resolve_reason", "incident": there}}


@pytest.mark.parametrize(
    ("incident", "into"),
    [
        (merged(id="Q1", summary="[#12] Disk is full", html_url=URL), MergedInto("Q1", "Disk is full", URL, 12)),
        (merged(id="Q1", summary="Disk is full", html_url=URL), MergedInto("Q1", "Disk is full", URL)),
        (merged(id="Q1", summary="[#12]", html_url=None), MergedInto("Q1", "[#12]")),
        (merged(id="Q1", summary=["x"], html_url=7), MergedInto("Q1")),
        (merged(id="Q1", summary="x" * 900, html_url="u" * 900), MergedInto("Q1", "x" * 500)),
        (merged(id="Q" * 90), MergedInto("Q" * 64)),
        (merged(id=7), None),
        ({"resolve_reason": {"type": "merge_resolve_reason"}}, None),
        ({"resolve_reason": {"type": "merge_resolve_reason", "incident": "Q1"}}, None),
        ({"resolve_reason": {"type": "resolve_resolve_reason", "incident": {"id": "Q1"}}}, None),
        ({"resolve_reason": "merge_resolve_reason"}, None),
        ({"resolve_reason": None}, None),
        ({}, None),
    ],
)
def test_what_it_was_merged_into(incident: dict[str, Any], into: MergedInto | None) -> None:
    assert merging.into(incident) == into
