"""pprof's ``profile.proto``."""
