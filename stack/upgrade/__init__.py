"""`python -m stack upgrade`: an older version of the code and this one serve together while people act."""
