# Written by make_sync.py from the asynchronous client: change that.
