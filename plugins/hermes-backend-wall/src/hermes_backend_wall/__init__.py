"""The wall of the system around the commands of this machine: bubblewrap, or Landlock with seccomp.

A library, no plugin: it has no entry point and no manifest. Importing this imports nothing.
"""
