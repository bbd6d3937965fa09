"""`make mutate`: change the code in small ways, one at a time, and count the changes that the tests detect."""
