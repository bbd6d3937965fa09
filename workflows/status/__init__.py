"""The state of an incident in words: progress, pages, what is missing, what stayed public, what waits for a person."""
