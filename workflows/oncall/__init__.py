"""Who is on call, as last read from the pager: users, schedules, shifts, and who policies page."""
