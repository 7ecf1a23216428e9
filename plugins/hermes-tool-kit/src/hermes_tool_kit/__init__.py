"""What tools that meet text and files from outside share: URLs opened within bounds, attacks recognized.

A library, no plugin: it has no entry point and no manifest. Importing this imports nothing.
"""
