"""Java Flight Recorder."""
