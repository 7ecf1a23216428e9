"""Logins by OAuth 2: how a person makes one, where its tokens are kept, and how they are renewed."""
