"""Thread dumps, as debuggers and runtimes print them: several of them make a profile by hand."""
