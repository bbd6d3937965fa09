"""What should exist outside for an incident, and the difference to what does. Pure values and functions."""
