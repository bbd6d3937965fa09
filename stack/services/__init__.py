"""Other people's programs that a stack needs: PostgreSQL, Redis, Chromium."""
