"""Finding incidents: filters, pages of a list, highlighted hits, and saved lists."""

from incidents.search.incident_filters import IncidentFilters, day, moment
from incidents.search.search_pages import PAGE, SearchPage, find, is_cursor, jumps, matching, newest

__all__ = ["PAGE", "IncidentFilters", "SearchPage", "day", "find", "is_cursor", "jumps", "matching", "moment", "newest"]
