"""PagerDuty: the protocol, the adapter to the pager port, webhooks, and the stand-in account."""
