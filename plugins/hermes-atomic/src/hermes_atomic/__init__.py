"""What several processes of one machine need to share files. A library that knows nothing of Hermes."""
