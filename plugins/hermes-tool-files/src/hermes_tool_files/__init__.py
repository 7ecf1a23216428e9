"""Reads, writes, edits, lists and searches files."""
