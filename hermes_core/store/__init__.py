"""What lasts: sessions, the journal of turns, and search over both."""
