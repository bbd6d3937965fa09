"""What Apple's tools print."""
