"""Many incidents at once, for measurements and tests: written in bulk, as the verbs would have left them."""

from stack.seed.filling import SEED, Amount, Seeded, fill, lengthen, tidy

__all__ = ["SEED", "Amount", "Seeded", "fill", "lengthen", "tidy"]
