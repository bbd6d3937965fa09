"""Evidence by REST and OTLP, with scoped tokens."""
