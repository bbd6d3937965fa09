"""What a wheel installs besides the application itself: the `firekind` command."""
