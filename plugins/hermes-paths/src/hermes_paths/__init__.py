"""Where a path that a model wrote leads, and opening the file there and nowhere else.

A library, no plugin: it has no entry point and no manifest. Importing this imports nothing.
"""
