"""The words by which search finds an incident."""
