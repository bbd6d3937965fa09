"""What a review says by itself: entries of the timeline in, sections of sentences out. Pure."""
