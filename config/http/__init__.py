"""How a request reaches Django and its answer leaves: queue, body, origin, compression, static files."""
