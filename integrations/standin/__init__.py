"""Shared by every vendor's stand-in: state behind a lock, a log of calls, ordered faults, snapshots."""
