"""Pages over many seeded incidents."""
