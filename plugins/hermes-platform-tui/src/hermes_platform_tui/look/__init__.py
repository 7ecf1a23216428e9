"""Skins, themes, and the status bar."""
