"""Incidents of the weeks before, so that the demo looks lived in; every entry says that it is sample data."""
