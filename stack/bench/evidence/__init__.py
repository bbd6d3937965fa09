"""What reading profiles costs, beside other tools."""
