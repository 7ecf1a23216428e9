"""Platforms kept alive, and messages carried between them and the agent."""
