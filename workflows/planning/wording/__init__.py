"""What plans and messages say, free of any vendor's markup. Pure."""
