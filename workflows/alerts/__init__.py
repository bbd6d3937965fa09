"""What the pager opened by itself: alerts that declare an incident by a rule, or join one."""
