"""Each tracker's requirements for its callers and for receivers of its webhooks."""
