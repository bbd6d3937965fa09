"""How the stand-in answers: requests, rate limits, faults and webhooks."""
