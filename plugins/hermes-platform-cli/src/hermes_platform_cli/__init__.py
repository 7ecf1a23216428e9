"""The classic terminal conversation."""
