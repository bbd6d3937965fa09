"""What Firekind composes for a review: timeline entries in, sections of sentences out. Pure."""
