"""What runs in the place of commands, given there as text."""
