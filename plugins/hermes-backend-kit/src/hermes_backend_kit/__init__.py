"""What backends share: output in bounded memory, pipes without threads, a shell whose state lasts, files by commands.

A library, no plugin: it has no entry point and no manifest. Importing this imports nothing.
"""
