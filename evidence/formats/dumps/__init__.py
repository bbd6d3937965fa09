"""Dumps of all threads, as debuggers and runtimes print them: several of them are a profile by hand."""
