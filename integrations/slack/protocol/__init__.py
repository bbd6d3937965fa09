"""Slack's rules and shapes: methods, limits, errors, Block Kit, mrkdwn, settings. This package makes no calls."""
