"""What the Firefox Profiler opens: samply, Firefox itself, `perf script report gecko`."""
