"""The services of the catalogue, as far as listing and choosing needs them. A test compares them with the files."""

from typing import NamedTuple

__all__ = ["LISTED", "Listed"]


class Listed(NamedTuple):
    """One service: enough to register it and to say whether it is ready, without reading its file."""

    name: str
    aliases: tuple[str, ...]
    priority: int
    env: tuple[str, ...]
    base_url: str
    base_url_env: str
    default_model: str


LISTED: tuple[Listed, ...] = (
    Listed(
        "anthropic",
        ("claude",),
        10,
        ("ANTHROPIC_API_KEY",),
        "https://api.anthropic.com",
        "ANTHROPIC_BASE_URL",
        "claude-sonnet-5-5",
    ),
    Listed(
        "minimax",
        (),
        20,
        ("MINIMAX_API_KEY",),
        "https://api.minimax.io/anthropic",
        "MINIMAX_BASE_URL",
        "MiniMax-M3",
    ),
    Listed(
        "minimax-cn",
        (),
        20,
        ("MINIMAX_CN_API_KEY",),
        "https://api.minimaxi.com/anthropic",
        "MINIMAX_CN_BASE_URL",
        "MiniMax-M3",
    ),
)
