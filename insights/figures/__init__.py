"""What is worked out from incidents, and how it is laid out in a chart: pure, without the database."""
