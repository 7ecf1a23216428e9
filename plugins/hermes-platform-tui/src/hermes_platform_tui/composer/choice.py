"""What may be put in at the cursor."""

from attrs import frozen

__all__ = ["Choice"]


@frozen
class Choice:
    """``text`` is put in place of the ``replaces`` characters before the cursor; ``summary`` says what it is."""

    text: str
    summary: str = ""
    replaces: int = 0
