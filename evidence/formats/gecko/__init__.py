"""Files that the Firefox Profiler opens: from samply, Firefox itself, `perf script report gecko`."""
