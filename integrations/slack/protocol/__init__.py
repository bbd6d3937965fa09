"""Slack's rules and shapes: methods, limits, errors, Block Kit, mrkdwn, settings. No call goes out from here."""
