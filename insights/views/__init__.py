"""The pages of figures, what is behind each mark, and their CSV."""
