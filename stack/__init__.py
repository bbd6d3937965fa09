"""Start and drive Firekind's processes: services, supervisor, demo, tour and benchmarks.

Only tests import it. `python -m stack` lists the commands.
"""
