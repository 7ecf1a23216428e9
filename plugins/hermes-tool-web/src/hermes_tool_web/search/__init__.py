"""Searching the web: who is asked (``services``), how (``asking``), in which order (``chain``), and what is shown."""
