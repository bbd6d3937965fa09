"""One child process: its command line, its ports, its start and its guaranteed end."""
