"""The list of incidents: its pages and rows, and the same list for a spreadsheet."""
