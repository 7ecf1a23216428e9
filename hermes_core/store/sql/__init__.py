"""Every statement of the store in SQLAlchemy Core; imported by no one at work, only to write ``versions/head``."""
