"""How the stand-in answers: arguments, rules, rates, faults, deliveries, file transfers."""
