"""Python's profilers: pyinstrument, cProfile, memray."""
