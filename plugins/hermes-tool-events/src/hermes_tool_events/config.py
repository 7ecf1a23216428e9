"""The settings under ``tools.events``."""

from typing import Literal

from hermes_core.options import ge, matches_re, option, settings

__all__ = ["Config", "MailSettings", "TargetSettings"]

_CLOCK = r"(?:[01]?\d|2[0-3])(?::[0-5]\d)?"


@settings
class TargetSettings:
    """Somebody who is told."""

    kind: Literal["webhook", "ntfy", "email", "desktop"] = option(
        "How: a webhook that is signed after Standard Webhooks, a topic of ntfy, a mail, or a notice on this desktop.",
        default="webhook",
    )
    to: str = option(
        "Where: an address (URL), or whose mailbox; a desktop needs none.",
        default="",
        example="https://ntfy.sh/my-topic",
    )
    secret: str = option(
        "What it is signed with (webhook), or the access token (ntfy): env:EVENTS_….",
        default="",
        example="env:EVENTS_SECRET_OPS",
    )
    events: list[str] = option(
        "What is told: turn.done, turn.failed, turn.interrupted, question.asked, job.failed, and what other plugins "
        "tell; turn.* for several, none means all.",
        factory=list,
        example=["turn.failed", "question.asked"],
    )
    origins: list[str] = option(
        "Only of turns that come from there, such as cron, webhook, telegram; none means all.", factory=list
    )
    text: bool = option("Whether what was answered is told too, without secrets; else only that it was.", default=False)
    private: bool = option("Whether it may be in a private network, or on this machine.", default=False)
    mine: bool = option(
        "Whether nobody but you reads it; else each message that a model sends there needs your yes.", default=False
    )
    quiet: str = option(
        "Hours in which nothing goes there, on the clock of this machine or of a time zone; it waits until they end.",
        default="",
        example="22:00-07:00 Europe/Berlin",
        validator=matches_re(rf"(?:{_CLOCK}-{_CLOCK}(?: [\w+/-]+)?)?"),
    )


@settings
class MailSettings:
    """Who sends mails for Hermes."""

    host: str = option("The server that takes mails; without one none is sent.", default="", example="smtp.example.org")
    port: int = option("Its port.", default=587, validator=ge(1))
    security: Literal["starttls", "tls", "none"] = option(
        "How the way there is kept secret; none is for a server on this machine alone.", default="starttls"
    )
    user: str = option("Who logs in there; empty: nobody does.", default="")
    password: str = option("With which password: env:EVENTS_….", default="env:EVENTS_MAIL_PASSWORD")
    sender: str = option("Who the mails are from; empty: the user.", default="", example="hermes@example.org")


@settings
class Config:
    """What is told of what happens here."""

    targets: dict[str, TargetSettings] = option("Who is told, each under a name of its own.", factory=dict)
    mail: MailSettings = option("Who sends mails.", factory=MailSettings)
    keep_days: float = option("For how long what was told is listed.", default=30.0, validator=ge(1))
