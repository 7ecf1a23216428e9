"""The services of the catalogue, as far as listing and choosing needs them. A test compares them with the files."""

from hermes_provider_kit.listed import Listed

__all__ = ["LISTED"]

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
    Listed(
        "opencode-claude",
        (),
        21,
        ("OPENCODE_ZEN_API_KEY", "OPENCODE_API_KEY"),
        "https://opencode.ai/zen",
        "OPENCODE_CLAUDE_BASE_URL",
        "claude-sonnet-4-5",
    ),
)
