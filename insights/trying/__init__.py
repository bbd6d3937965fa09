"""What edited types would have done in past incidents: each is planned again by the same function, and compared."""
