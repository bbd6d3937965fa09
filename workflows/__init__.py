"""From what is to what should be: plan the difference, confirm it, carry it out once."""
