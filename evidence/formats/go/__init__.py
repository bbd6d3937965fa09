"""What Go and gperftools print of profiles: the text of debug=1 and debug=2, and pprof's own reports."""
