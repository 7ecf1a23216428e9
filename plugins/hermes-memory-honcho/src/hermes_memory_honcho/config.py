"""The settings under ``memories.honcho``."""

from hermes_core.options import Secret, ge, le, matches_re, option, settings


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
    told: int = option(
        "The most memories told with a message; 0 tells none, and the agent searches.",
        default=5,
        validator=[ge(0), le(20)],
    )
    near: float = option(
        "How near in meaning something must be to be found, from 0 to 1; models differ.",
        default=0.4,
        validator=[ge(0), le(1)],
    )
    learn: bool = option("Send each turn to the server, which takes out of it what it thinks.", default=True)
