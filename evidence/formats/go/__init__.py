"""Profiles as printed by Go and gperftools: the text of debug=1 and debug=2, and pprof's own reports."""
