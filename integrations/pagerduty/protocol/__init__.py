"""PagerDuty's rules and words: requests, errors, signatures, settings. No request goes out from here."""
