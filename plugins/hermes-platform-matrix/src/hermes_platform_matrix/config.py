"""The settings of the Matrix platform."""

from typing import Literal

from hermes_core.options import Secret, ge, gt, matches_re, option, settings
from hermes_platform_kit.peers import peers_option

_SERVER = matches_re(r"|https?://[^\s/?#@]+(/[^\s?#]*)?|[^\s/:@?#]+(:\d+)?")
_USER = matches_re(r"|@[^\s:]+:[^\s]+|[^\s@:]+")


@settings
class Config:
    """An account on a Matrix homeserver."""

    homeserver: str = option(
        "Where the account lives: the server's name, or the URL of its client API.",
        default="",
        validator=_SERVER,
        example="example.org",
    )
    user: str = option(
        "Who the bot is; needed to log in with a password. A token says it by itself.",
        default="",
        validator=_USER,
        example="@hermes:example.org",
    )
    access_token: Secret = option(
        "Access token of the account. Taken before a password; its device is used.",
        default=Secret("env:MATRIX_ACCESS_TOKEN"),
    )
    password: Secret = option(
        "Password of the account, to log in by itself when there is no token or it has run out.",
        default=Secret("env:MATRIX_PASSWORD"),
    )
    recovery_key: Secret = option(
        "Recovery key or phrase of the account, to sign this device as the account's own. Not needed for an account"
        " that no other client was ever set up for.",
        default=Secret("env:MATRIX_RECOVERY_KEY"),
    )
    device_name: str = option("What the bot's device is called in people's clients.", default="Hermes")
    encryption: bool = option(
        "Read and write in encrypted rooms. Off: nothing there is read, and who writes is told so.",
        default=True,
    )
    exclude_unsigned_devices: bool = option(
        "In encrypted rooms, write only for devices that their owner has signed, and read only what they wrote. Off:"
        " all devices of the people in a room.",
        default=False,
    )
    join: Literal["invited", "never"] = option(
        "Whether an invitation is accepted. Being in a room allows nobody anything: who is answered is decided by the"
        " rules for people.",
        default="invited",
    )
    inviters: list[str] = option(
        "Whose invitations are accepted, as user ids with * for anything; others are left open.",
        factory=lambda: ["*"],
        example=["@ada:example.org", "@*:example.org"],
    )
    peers: list[str] = peers_option("@ada:example.org")
    auto_thread: bool = option(
        "In rooms, answer in a thread that starts at the message, so that each matter has a conversation of its own.",
        default=True,
    )
    dm_auto_thread: bool = option("The same in chats of two.", default=False)
    receipts: bool = option("Show people that their message was received.", default=True)
    max_media_bytes: int = option(
        "The largest file that is fetched from a chat or sent to one, in bytes.", default=33_554_432, validator=ge(0)
    )
    media_days: float = option(
        "Files from chats are removed from this machine after this many days.", default=7.0, validator=gt(0)
    )
    sync_seconds: float = option(
        "How long one request waits for news, in seconds; proxies may cut longer ones.", default=30.0, validator=gt(0)
    )
