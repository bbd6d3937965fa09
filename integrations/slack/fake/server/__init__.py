"""How the stand-in answers: arguments, rules, rate limits, faults, deliveries, file transfers."""
