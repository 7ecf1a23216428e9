"""Full text search: what an index is given of a text, what a person asks of it, and where that stands.

A library that knows nothing of Hermes, and stands on Python alone: its store and its upkeep search with it.
"""
