"""How a timeline is read: what was last said, what a latecomer is told, what is left out, and how days are laid out."""
