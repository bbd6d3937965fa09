"""Wiring only: settings, addresses, the web application and the worker. Nothing imports it."""
