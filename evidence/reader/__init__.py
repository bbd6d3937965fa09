"""The bounded process that reads one file that may be hostile, and how it is started and answered."""
