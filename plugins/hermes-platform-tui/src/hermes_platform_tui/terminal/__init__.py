"""The terminal itself: what it can do, and how it is left."""
