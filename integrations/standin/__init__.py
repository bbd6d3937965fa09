"""What every stand-in for a vendor needs: a log of what was asked of it, and faults to order."""
