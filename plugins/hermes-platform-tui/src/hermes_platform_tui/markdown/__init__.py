"""Markdown as rows of a terminal, while it is still being written.

``body.MarkdownBody`` is the widget; ``clean`` and ``width`` are for any text that reaches the terminal. Nothing is
imported here: textual is heavy, and so is the parser.
"""
