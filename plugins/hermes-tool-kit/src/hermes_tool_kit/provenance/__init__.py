"""Which files are a person's own, and which came from outside: kept by path and digest, for all tools of a home.

Importing this imports nothing; see ``ledger`` and ``changes``.
"""
