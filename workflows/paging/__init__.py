"""Our pages: opened once, kept up to date by webhooks and polling, and the people they bring in."""
