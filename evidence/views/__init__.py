"""The pages and fragments of evidence."""
