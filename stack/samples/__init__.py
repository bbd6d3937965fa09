"""Incidents of the past weeks, so that the demo looks lived in; every entry says that it is sample data."""
