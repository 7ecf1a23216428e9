"""Files that run by themselves: what is known of their names and folders.

A library that knows nothing of Hermes, and stands on Python alone: the kernel's policy, guards and walls ask it.
"""
