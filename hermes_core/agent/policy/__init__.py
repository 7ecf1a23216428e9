"""The one point that every tool call passes, whichever door it came through."""
