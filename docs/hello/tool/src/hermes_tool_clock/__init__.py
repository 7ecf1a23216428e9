"""Tells the model what time it is."""

from datetime import datetime, timedelta, timezone

from hermes_core import hookimpl, option, settings, tool
from hermes_core.options import ge, le


@settings
class Where:
    hours: float = option("Hours ahead of UTC.", default=0.0, validator=[ge(-23), le(23)])


@tool
async def now(where: Where) -> str:
    """Say the current time at an offset from UTC."""
    return datetime.now(timezone(timedelta(hours=where.hours))).isoformat(timespec="seconds")


@hookimpl
def register_tools():
    return [now]
