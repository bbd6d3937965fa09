"""A small service that burns CPU and can be profiled."""
