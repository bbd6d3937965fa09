"""`pictures`: the images in README and the documentation, taken in a real browser on a throwaway stack."""
