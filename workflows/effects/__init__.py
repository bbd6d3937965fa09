"""The queue of what is owed outside: claims with leases and fencing tokens, retries, manual steps."""
