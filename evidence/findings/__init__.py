"""Hypotheses about an incident, tested in rounds, each with a verdict and its evidence."""
