"""What reading profiles costs, compared with other tools."""
