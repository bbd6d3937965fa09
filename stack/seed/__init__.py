"""Many incidents at once, for measurements and tests: written in bulk, as the verbs would have left them."""

from stack.seed.filling import Amount, Seeded, fill, lengthen, tidy

__all__ = ["Amount", "Seeded", "fill", "lengthen", "tidy"]
