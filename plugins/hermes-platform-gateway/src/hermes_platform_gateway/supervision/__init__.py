"""Whoever keeps the gateway running is told how it is."""
