"""Related evidence: pairs to compare, earlier incidents that looked similar."""
