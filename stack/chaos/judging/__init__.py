"""What must hold after a chaos run, and the data to judge it by."""
