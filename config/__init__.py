"""Wiring only: settings, addresses, the web application and the worker. Imported by nobody."""
