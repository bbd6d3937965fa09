"""Go's benchmarks and benchstat's tables, and which differences are significant. Pure."""
