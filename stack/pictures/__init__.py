"""`pictures`: what README and the documentation show, taken in a real browser in front of a throwaway stack."""
