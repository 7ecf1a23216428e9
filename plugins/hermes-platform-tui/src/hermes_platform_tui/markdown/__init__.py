"""Markdown as rows of a terminal, while it is still being written."""
