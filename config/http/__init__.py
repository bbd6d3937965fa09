"""How a request reaches Django and its response leaves: queue, body, origin, compression, static files."""
