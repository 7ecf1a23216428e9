"""The services of a catalogue, as far as listing and choosing needs them."""

from typing import NamedTuple

__all__ = ["Listed"]


class Listed(NamedTuple):
    """One service: enough to register it and to say whether it is ready, without reading its file."""

    name: str
    aliases: tuple[str, ...]
    priority: int
    env: tuple[str, ...]
    base_url: str
    base_url_env: str
    default_model: str
    local: bool = False
