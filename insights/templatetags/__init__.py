"""What templates of figures need beyond those of incidents."""
