"""Go's benchmarks and benchstat's tables, and what is significant in them. Pure."""
