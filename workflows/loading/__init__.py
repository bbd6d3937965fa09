"""The facts of incidents, read for the planning in a fixed number of queries."""
