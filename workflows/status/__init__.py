"""How far it has come, in words: progress, pages, what is missing, what stayed public, what waits for a person."""
