"""The page of one incident: what is read for it, and how its entries are rendered."""
