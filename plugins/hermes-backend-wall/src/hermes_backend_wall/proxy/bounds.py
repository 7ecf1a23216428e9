"""How much of the machine the proxy may take."""

from attrs import frozen

__all__ = ["Bounds"]


@frozen(kw_only=True)
class Bounds:
    """Counts, bytes and seconds; the defaults serve uv and npm, which open fifty connections at once."""

    connections: int = 128
    head_bytes: int = 32_768
    head_seconds: float = 15.0  # to the first byte, from it to a whole head, and to a whole ClientHello
    dial_seconds: float = 20.0
    idle_seconds: float = 300.0  # a test server behind a tunnel may think for long
    ask_seconds: float = 600.0
    questions: int = 8  # open at once
