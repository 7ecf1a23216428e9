"""Searches past conversations."""
