"""Which chat goes with which conversation, and when a conversation ends by itself."""

import time
from datetime import datetime, timedelta

from hermes_core.types import Envelope, Principal
from hermes_platform_gateway.config import ResetSettings
from hermes_platform_gateway.rows.values import Binding

__all__ = ["is_over", "session_key"]


def session_key(envelope: Envelope, owner: Principal, *, shared: bool) -> str:
    """The name of the conversation that a message belongs to.

    ``shared``: all who write there have one conversation, as in a direct message, where there is nobody else.
    """
    profile = "main" if owner.profile == "default" else owner.profile
    where = [envelope.chat or envelope.sender or "all"]
    if envelope.thread:
        where.append(envelope.thread)
    if envelope.kind != "dm" and not shared:
        where.append(envelope.sender)
    return ":".join(("agent", profile, envelope.platform, envelope.account, envelope.kind, *map(_word, where)))


def _word(text: str) -> str:
    """One part of a key; no two chats may have one key because of a colon in a name."""
    return text.replace("%", "%25").replace(":", "%3A")


def is_over(route: Binding, policy: ResetSettings, now: float | None = None) -> str:
    """Why the next message begins a new conversation, or nothing."""
    now = time.time() if now is None else now
    if policy.mode in ("idle", "both") and now - route.used > 60 * policy.idle_minutes:
        return f"nothing was said for {_span(60 * policy.idle_minutes)}"
    if policy.mode in ("daily", "both") and route.used < _morning(now, policy.at_hour):
        return f"a new day began at {policy.at_hour}:00"
    return ""


def _morning(now: float, hour: int) -> float:
    """The last time the clock of this machine showed that hour."""
    moment = datetime.fromtimestamp(now).astimezone()
    today = moment.replace(hour=hour, minute=0, second=0, microsecond=0)
    return (today if today <= moment else today - timedelta(days=1)).timestamp()


def _span(seconds: float) -> str:
    for size, name in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            number = round(seconds / size)
            return f"{number} {name}{'' if number == 1 else 's'}"
    return f"{seconds:.0f} seconds"
