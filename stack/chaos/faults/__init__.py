"""What breaks while people act, on one stack: one module for each fault that is more than a call."""
