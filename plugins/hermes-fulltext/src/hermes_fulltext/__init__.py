"""Full text search: what an index is given of a text, what a person asks of it, and which messages are meant.

A library that knows nothing of Hermes: its store and its upkeep search with it.
"""
