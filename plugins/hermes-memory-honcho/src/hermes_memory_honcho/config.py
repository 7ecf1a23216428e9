"""The settings under ``memories.honcho``."""

from hermes_core.options import Secret, matches_re, option, settings
from hermes_memory_kit.options import near, told


@settings
class Config:
    """The memory honcho."""

    base_url: str = option("Where the server is.", default="https://api.honcho.dev", example="http://127.0.0.1:8000")
    api_key: Secret = option(
        "Its key, or a reference; a server of your own may want none.", default=Secret("env:HONCHO_API_KEY")
    )
    workspace: str = option(
        "What the names of workspaces there begin with; each person has one.",
        default="hermes",
        validator=matches_re(r"[a-zA-Z0-9_-]{1,100}"),
    )
    told: int = told()
    near: float = near("found")
    learn: bool = option("Send each turn to the server, which takes out of it what it thinks.", default=True)
