"""Everything measured or captured: taken in, read in a bounded process, drawn, compared and judged."""
