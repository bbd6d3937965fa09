"""One module for each tool that counts: ``looks_like(text)`` and ``read(text) -> list[CountTable]``."""
