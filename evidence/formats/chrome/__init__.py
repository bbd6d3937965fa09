"""Output of Chrome and V8: trace events, CPU profiles, heap profiles."""
