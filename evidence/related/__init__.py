"""Evidence that belongs beside other evidence: pairs to compare, earlier incidents that looked alike."""
