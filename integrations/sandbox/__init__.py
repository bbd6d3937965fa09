"""The stand-in Slack behind HTTP, with a page to try Firekind in: `python -m integrations.sandbox`."""
