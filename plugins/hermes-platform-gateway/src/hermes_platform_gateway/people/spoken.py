"""How people and what they spend are told of, in a terminal and in a chat."""

import time

from hermes_core.types import Usage
from hermes_platform_gateway.people.register import Entry, Spending
from hermes_platform_gateway.rows.values import Restriction

__all__ = ["in_a_line", "kept_in_words", "spent_in_words"]


def kept_in_words(kept: Restriction | None) -> str:
    """Why somebody is not heard; empty when they are."""
    if kept is None:
        return ""
    if kept.kind == "mute":
        return f"muted until {time.strftime('%Y-%m-%d %H:%M', time.localtime(kept.until))}"
    return f"blocked by {kept.by}" if kept.by else "blocked"


def spent_in_words(usage: Usage, unpriced: int) -> str:
    """Calls and what they cost, as far as anybody knows: an unknown is never shown as nothing."""
    if not usage.calls:
        return "0"
    cost = "cost unknown" if unpriced >= usage.calls else f"${usage.cost:.2f}"
    more = " +?" if 0 < unpriced < usage.calls else ""
    return f"{usage.calls} calls, {cost}{more}"


def in_a_line(entry: Entry, spent: Spending) -> str:
    """One person in a chat."""
    name = " ".join(entry.title.split())[:40]
    called = f" ({name})" if name and name != entry.person else ""
    state = f"; {kept_in_words(entry.kept)}" if entry.kept else ""
    today, month = spent_in_words(spent.today, spent.unpriced_today), spent_in_words(spent.month, spent.unpriced)
    return f"`{entry.person}`{called}, {entry.role}: today {today}; this month {month}{state}"
