"""`make chaos`: people act while everything breaks, and the final state is checked against the invariants."""
