"""What the gateway keeps, in tables of its own: what goes out, chats, session keys, and who may talk."""
