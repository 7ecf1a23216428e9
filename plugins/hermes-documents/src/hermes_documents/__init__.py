"""Reads documents as Markdown, in a process of their own with bounded time and memory.

>>> from hermes_documents.reading import is_document, markdown_of
"""
