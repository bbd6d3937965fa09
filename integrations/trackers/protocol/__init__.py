"""What each tracker asks of its callers and of who takes its webhooks."""
