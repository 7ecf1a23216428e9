"""Runs commands on another machine over OpenSSH."""
