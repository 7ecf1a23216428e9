"""The keys of the screen, for the help. Key, what it does, group."""

from collections.abc import Sequence

__all__ = ["KEYS"]

KEYS: Sequence[tuple[str, str, str]] = (
    ("Enter", "send", "Writing"),
    ("Shift+Enter, Alt+Enter, Ctrl+J", "begin a new line", "Writing"),
    ("Tab", "complete a /command or an @reference", "Writing"),
    ("Up, Down", "what you said before", "Writing"),
    ("Ctrl+R", "search what you said before", "Writing"),
    ("Ctrl+G", "write in your own editor", "Writing"),
    ("Ctrl+V, Alt+V", "attach the picture in the clipboard", "Writing"),
    ("Ctrl+O", "look into a collapsed paste", "Writing"),
    ("PgUp, PgDn", "scroll", "Reading"),
    ("Ctrl+Up, Ctrl+Down", "from message to message", "Reading"),
    ("Enter, Space", "fold the message in focus", "Reading"),
    ("c, y", "copy the message in focus, or its code", "Reading"),
    ("Alt+C", "copy the last answer", "Reading"),
    ("Ctrl+F", "search this conversation", "Reading"),
    ("End", "follow the end again", "Reading"),
    ("Ctrl+C", "copy what is selected; stop the turn; clear the line; twice leaves", "Everywhere"),
    ("Ctrl+P", "find anything", "Everywhere"),
    ("F1", "this help", "Everywhere"),
    ("F2", "earlier conversations", "Everywhere"),
    ("F3", "another model", "Everywhere"),
    ("F4", "child agents and processes", "Everywhere"),
    ("F5", "what this conversation used", "Everywhere"),
    ("F8", "screens of plugins: a board, a calendar", "Everywhere"),
    ("F9", "settings", "Everywhere"),
    ("Ctrl+T, Alt+W", "open a tab, close it", "Tabs"),
    ("Ctrl+PgUp, Ctrl+PgDn, Alt+Left, Alt+Right", "the tab beside this one", "Tabs"),
    ("Alt+1 … Alt+9", "a tab by its place", "Tabs"),
    ("Ctrl+L", "draw the screen anew", "The terminal"),
    ("Ctrl+Z", "suspend; fg comes back", "The terminal"),
    ("Ctrl+Q", "leave", "The terminal"),
)
