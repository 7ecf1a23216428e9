"""How commands end: what the contract says of their status, and how long they are given."""

__all__ = ["GRACE", "KILLED", "SHORT_GRACE", "TIMED_OUT"]

TIMED_OUT = 124  # the status of a command whose time was over
KILLED = 137  # the status of one that was ended for good
GRACE = 2.0  # seconds a tree may take to end when asked politely
SHORT_GRACE = 0.2  # the same when a person wants it to stop: nothing is left within a second
