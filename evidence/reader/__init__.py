"""The bounded process that reads one possibly hostile file, and how it is started and answered."""
