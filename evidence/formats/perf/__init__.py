"""The text of ``perf script``."""
