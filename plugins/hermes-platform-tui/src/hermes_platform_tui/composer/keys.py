"""The keys of the composer in words, for help."""

from collections.abc import Sequence

__all__ = ["KEYS"]

KEYS: Sequence[tuple[str, str]] = (
    ("Enter", "send; in a menu: take what is chosen"),
    ("Shift+Enter, Alt+Enter, Ctrl+J", "new line"),
    ("Up, Down", "move; from the first and the last row: earlier and later messages"),
    ("Ctrl+R", "search earlier messages; again: the next that is found"),
    ("Tab", "complete: what all choices share, then the chosen one"),
    ("Esc", "close a menu or a search"),
    ("Ctrl+G, Ctrl+X Ctrl+E", "write in $VISUAL or $EDITOR"),
    ("Ctrl+V, Alt+V", "attach the picture in the clipboard, or paste its text"),
    ("Ctrl+O", "look at the paste, picture or file at the cursor; there: E puts its text in, D removes it"),
    ("Ctrl+_, Alt+Z", "undo"),
    ("Ctrl+Shift+Z, Alt+Shift+Z", "redo"),
    ("Ctrl+A, Ctrl+E", "start and end of the line"),
    ("Home, End", "start and end of the row"),
    ("Ctrl+Left, Ctrl+Right, Alt+B, Alt+F", "a word back and forth"),
    ("Ctrl+W", "cut the word before the cursor"),
    ("Ctrl+U, Ctrl+K", "cut to the start, to the end of the line"),
    ("Ctrl+Y", "put back what was cut last"),
    ("Alt+D", "delete the word behind the cursor"),
    ("Shift+arrows", "select; Ctrl+C copies, Ctrl+X cuts"),
)
