"""What Chrome and V8 write: trace events, CPU profiles, heap profiles."""
