"""Profiles of Haskell programs, as GHC writes them."""
