"""Fields of a page that are filled with what no model reads: how one plugin types into a browser that another keeps.

The browser says where a field is and watches over what was typed; whose value it is, and whether a person agrees, is
said by who fills it. The resource ``browser`` is one of these, and ``shared``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from attrs import field

from hermes_core.values import frozen

__all__ = ["Field", "Fields", "Guard", "origin"]

_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


@frozen(kw_only=True, eq=False)
class Field:
    """One field, as it was found: that very element of that very document.

    ``origins`` are those of its document and of each one around it, innermost first, ``targets`` those that its form
    is sent to when they are others. ``hides`` says that it shows dots, ``words`` are for a person.
    """

    ref: str
    origins: Sequence[str]
    targets: Sequence[str] = ()
    hides: bool = False
    words: str = ""


@frozen(kw_only=True, eq=False)
class Guard:
    """What keeps values where they were typed: ``hide`` takes them out of a text, ``origins`` alone may get them."""

    origins: frozenset[str]
    hide: Callable[[str], str] = field(repr=False)


class Fields(ABC):
    """What is open in a browser and can be filled."""

    @abstractmethod
    async def find(self, refs: Sequence[str]) -> Sequence[Field]:
        """Return the fields that these references of the last snapshot mean, in order. Raises ToolError.

        Refused are what is no field, what nobody sees, what is covered, and pages in which a model's script ran.
        """

    @abstractmethod
    async def fill(self, values: Sequence[tuple[Field, str]], guard: Guard, *, submit: bool) -> str:
        """Type into fields that are still as they were found; what came of it, for a model. Raises ToolError.

        From the moment that it begins, all that the browser gives to a model goes through ``guard.hide``, no script of
        a model runs in pages of these origins, and no request that holds a value leaves for another origin.
        """


def origin(url: str) -> str:
    """The origin of an address that a browser shows, with its port; empty where it has none."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    except (ValueError, KeyError):
        return ""
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}" if host else ""
