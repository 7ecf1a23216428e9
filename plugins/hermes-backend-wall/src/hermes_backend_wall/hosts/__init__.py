"""Which hosts an honest command needs: registries of packages, the person's mirrors of them, forges.

Importing this imports nothing.
"""
