"""The one point that every tool call passes, whichever way it came in."""
