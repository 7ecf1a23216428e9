"""Runs commands on this machine."""
