"""Dialogs and screens over the conversation."""
