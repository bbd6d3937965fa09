"""Protobuf's wire format: field by field, in columns, and recognised by its shape. Pure."""
