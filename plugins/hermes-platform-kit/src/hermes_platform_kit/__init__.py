"""What platforms of chat services share; ``files`` keeps what came in with messages."""
