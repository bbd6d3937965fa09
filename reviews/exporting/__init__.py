"""A review as a file: Markdown, and HTML that needs nothing else."""
