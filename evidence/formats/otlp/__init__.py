"""OpenTelemetry's profiles."""
