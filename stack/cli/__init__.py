"""Commands that `python -m stack` runs itself: demo, run, one process, rehearsal."""
