"""What is sent into the place where commands run."""
