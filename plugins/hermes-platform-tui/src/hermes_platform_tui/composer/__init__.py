"""Where a person writes."""
