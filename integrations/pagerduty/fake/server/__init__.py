"""How the stand-in answers: requests, rates, faults, webhooks."""
