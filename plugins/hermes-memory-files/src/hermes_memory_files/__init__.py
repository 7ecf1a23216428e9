"""Remembers in MEMORY.md and USER.md."""
