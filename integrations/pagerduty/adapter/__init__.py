"""The pager port over PagerDuty's REST and Events APIs."""
