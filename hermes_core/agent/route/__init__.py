"""Who answers, and what is done when they cannot: retries, other keys, other models."""
