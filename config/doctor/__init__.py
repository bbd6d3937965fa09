"""What is wrong with this Firekind, and what to do about it: `manage.py doctor`."""
