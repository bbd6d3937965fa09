"""Protobuf's wire format: field by field, in columns, and told by its shape. Pure."""
