"""PagerDuty's rules and wording: requests, errors, signatures, settings. This package sends no requests."""
