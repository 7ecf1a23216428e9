"""Known values in texts: where they stand, in whatever form they come back.

A library that knows nothing of Hermes, and stands on Python alone: its masks and its vault look with it.
"""
