"""A review as a file: Markdown, and self-contained HTML."""
