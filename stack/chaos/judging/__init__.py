"""What must hold after a chaos run, and what it is judged by."""
