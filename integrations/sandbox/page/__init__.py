"""Shared by all pages: templates, Slack's markup, emoji, and the bell that announces changes."""
