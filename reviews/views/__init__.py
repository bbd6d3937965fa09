"""The pages of reviews, one module each."""
