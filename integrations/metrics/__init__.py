"""Metrics for Prometheus: read from the database at each scrape, or counted by the web processes."""
