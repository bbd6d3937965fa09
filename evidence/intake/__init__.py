"""Evidence on its way in: received, stored, leased, read once, shown, withdrawn."""
