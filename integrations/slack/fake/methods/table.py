"""The shape of one Web API method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from integrations.slack.fake.server.args import Args

if TYPE_CHECKING:
    from integrations.slack.fake.core import Caller, FakeSlack

Body = Mapping[str, Any]
Method = Callable[["FakeSlack", "Caller", Args], Body]
