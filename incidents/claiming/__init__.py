"""Rows that several processes take: how a claim is held, and by which clock it ends."""
