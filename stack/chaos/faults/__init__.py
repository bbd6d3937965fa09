"""What breaks while people act: who does it to one stack, one module for each that is more than a call."""
