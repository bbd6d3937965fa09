"""One module for each load tester: ``looks_like(text)`` and ``read(text) -> list[Run]``."""
