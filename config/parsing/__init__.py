"""How settings are parsed and which may not be set together, one module per topic."""
