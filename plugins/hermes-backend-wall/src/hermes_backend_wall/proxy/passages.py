"""What the proxy tells of each connection and request, for a journal and for ``status``."""

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["OnPassage", "Passage"]


class Passage(NamedTuple):
    """A decision, told when it is made and, if ``allowed``, once more when it is ``over``.

    ``id`` joins the two. ``host`` and ``scheme`` are empty where the request could not be read. ``why`` is the rule's
    source, ``asked``, or the reason of a refusal; it can also say why an allowed one ended. ``up`` and ``down`` are
    bytes to and from the server.
    """

    id: int
    host: str
    port: int
    scheme: str
    allowed: bool
    why: str
    up: int = 0
    down: int = 0
    over: bool = False


OnPassage = Callable[[Passage], None]
