"""Where profiles are captured: one adapter a kind of source, over the operator's list."""
