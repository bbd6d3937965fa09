"""Rows that several processes compete for: how a claim is held, and which clock decides when it ends."""
