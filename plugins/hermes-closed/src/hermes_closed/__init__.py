"""Files that are closed to tools, by whatever name a path has for them.

A library that knows nothing of Hermes, and stands on Python alone: the kernel's policy, guards and what opens paths ask
it.
"""
