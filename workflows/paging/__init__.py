"""Pages of ours: opened once, kept true by webhooks and by polling, and who they bring in."""
