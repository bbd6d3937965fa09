"""`make chaos`: people act while everything breaks, and what is left is held against the invariants."""
