"""What starts and drives Firekind's processes: services, supervisor, demo, tour and benchmarks.

Imported by nobody but tests. `python -m stack` lists the commands.
"""
