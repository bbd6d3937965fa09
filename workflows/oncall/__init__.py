"""Who is on call, as last read of the pager: users, schedules, shifts, and whom policies call."""
