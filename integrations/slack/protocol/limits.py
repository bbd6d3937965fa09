"""Slack's limits: rates, counts and lengths."""

from __future__ import annotations

from typing import Final, Literal

Tier = Literal["t1", "t2", "t3", "t4", "t5"]

PER_MINUTE: Final[dict[Tier, int]] = {"t1": 1, "t2": 20, "t3": 50, "t4": 100, "t5": 600}
"""Calls a minute Slack promises to accept, per method and workspace (docs.slack.dev/apis/web-api/rate-limits).

The reference calls the fifth tier *special*, and says for each of its methods what that means.
"""

POSTS_PER_SECOND: Final = 1
"""Messages a second Slack promises to accept, per channel."""

MAX_INVITES: Final = 100
MAX_TOPIC: Final = 250
MAX_CHANNEL_NAME: Final = 80
MAX_UPDATE_BYTES: Final = 4_000
"""Bytes of UTF-8, although the reference says characters: github.com/openclaw/openclaw/pull/115027 asked Slack."""

MAX_POST_TEXT: Final = 40_000
MAX_MESSAGE_BLOCKS: Final = 50
MAX_BLOCKS_WEIGHT: Final = 13_200
"""What the blocks of one message may weigh (``block_kit.weight``), as measured: github.com/slackapi/bolt-js/issues/2509
has 13,297 characters in blocks of text alone, and 13,172 with a divider."""

MAX_VIEW_BLOCKS: Final = 100
MAX_METADATA: Final = 16_000
MAX_PINS: Final = 100
MAX_BOOKMARKS: Final = 100
TRIGGER_S: Final = 3
RESPONSE_URL_S: Final = 1_800
RESPONSE_URL_USES: Final = 5
