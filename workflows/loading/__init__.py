"""Read the facts of incidents for planning, in a fixed number of queries."""
