"""The effect queue: claims with leases and fencing tokens, retries, manual steps."""
