"""What every stand-in for a vendor has: state behind a lock, a log of calls, faults to order, snapshots."""
