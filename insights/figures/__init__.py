"""Figures computed from incidents, and their layout in charts: pure, without the database."""
