"""The page of one profile: flame graph, functions, search, sandwich, comparison."""
