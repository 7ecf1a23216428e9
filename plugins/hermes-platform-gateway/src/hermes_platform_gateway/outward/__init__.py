"""What goes out: messages sent once, shown while they are written, split and with their files."""
