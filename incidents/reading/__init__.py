"""How a timeline is read: what holds now, the catch-up for latecomers, filters, and the layout by day."""
