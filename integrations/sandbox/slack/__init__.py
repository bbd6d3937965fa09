"""Slack's side of the sandbox: its API, its deliveries, and the doors for people and tests."""
