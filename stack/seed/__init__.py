"""Many incidents at once, for measurements and tests: written in bulk, in the state that the verbs would produce."""

from stack.seed.filling import SEED, Amount, Seeded, fill, lengthen, tidy

__all__ = ["SEED", "Amount", "Seeded", "fill", "lengthen", "tidy"]
