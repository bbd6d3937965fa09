"""Alerts are incidents that the pager opened itself: a rule declares an incident for them, or they join one."""
