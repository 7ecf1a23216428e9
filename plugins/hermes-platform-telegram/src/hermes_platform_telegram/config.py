"""The settings of the platform."""

from hermes_core.options import ge, gt, le, matches_re, option, settings
from hermes_platform_kit.peers import peers_option

__all__ = ["Config"]

_ADDRESS = matches_re(r"https?://[^\s/?#@]+(/[^\s?#@]*)?")


@settings
class Config:
    """A Telegram bot. Its token is the secret TELEGRAM_BOT_TOKEN."""

    base_url: str = option(
        "Where the Bot API is: Telegram's, or a Bot API server of your own.",
        default="https://api.telegram.org",
        validator=_ADDRESS,
        example="http://127.0.0.1:8081",
    )
    local_files: bool = option(
        "The Bot API server at base_url runs here with --local: files are read from its folder.", default=False
    )
    webhook_url: str = option(
        "The https address under which Telegram reaches this machine; empty: the bot asks for messages (polling).",
        default="",
        validator=matches_re(r"|https://[^\s?#@]+"),
        example="https://bot.example.org/telegram",
    )
    webhook_host: str = option("The address that the webhook's server listens on.", default="127.0.0.1")
    webhook_port: int = option(
        "The port that the webhook's server listens on; 0: any free one.", default=8443, validator=[ge(0), le(65535)]
    )
    seconds: float = option("How long Telegram may take to answer a request.", default=30.0, validator=gt(0))
    poll_seconds: int = option(
        "How long one request for new messages waits for some.", default=50, validator=[ge(0), le(50)]
    )
    album_seconds: float = option(
        "How long to wait for the next picture of an album before it is taken for whole.",
        default=1.0,
        validator=[ge(0), le(30)],
    )
    megabytes: int = option(
        "The largest file that is taken from a message. Telegram's own server gives bots 20 MB at most.",
        default=20,
        validator=[ge(1), le(128)],
    )
    cache_megabytes: int = option(
        "How much all received files may take together; the oldest go first. Conversations have copies of their own.",
        default=500,
        validator=ge(128),
    )
    keep_days: int = option("For how many days received files are kept; 0: for ever.", default=7, validator=ge(0))
    markdown: bool = option("Show markdown as bold, code and so on; false shows it as it was written.", default=True)
    link_previews: bool = option(
        "Let Telegram fetch and show a preview of linked pages. It opens what a model wrote with nobody's click.",
        default=False,
    )
    silent: bool = option("Send messages without a sound.", default=False)
    peers: list[str] = peers_option("@ada_bot")
    menu: int = option(
        "How many slash commands the bot's menu shows; 0 leaves the menu alone.", default=80, validator=[ge(0), le(100)]
    )
