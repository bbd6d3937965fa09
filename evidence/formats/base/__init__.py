"""What several formats need: bounded reading, protobuf, JSON, units, names and symbols. Pure."""
