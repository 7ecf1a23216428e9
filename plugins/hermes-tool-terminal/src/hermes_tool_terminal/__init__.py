"""Runs commands in the session's workspace."""
