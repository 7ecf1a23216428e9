"""What is let go of by itself: sessions that nobody used for long, and long outputs beside them."""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Principal
from hermes_tool_upkeep.erase import place_of
from hermes_tool_upkeep.rows import connected

__all__ = ["Old", "drop_outputs", "old_sessions", "retire"]

_DAY = 86_400.0
_MB = 1_000_000


class Old(NamedTuple):
    """A session that is to go, whose it is, and how many bytes its messages have."""

    id: str
    owner: Principal
    bytes: int


def old_sessions(
    connection: sa.Connection, *, days: int, platforms: Mapping[str, int], bytes_: int = 0, now: float = 0.0
) -> Sequence[Old]:
    """Return the sessions that are older than their days, and the oldest others while all are larger than ``bytes_``.

    Those of child agents go with what they worked for.
    """
    metadata, now = sa.MetaData(), now or time.time()
    sessions, owners, messages = (
        sa.Table(name, metadata, autoload_with=connection) for name in ("sessions", "owners", "messages")
    )
    size = sa.select(sa.func.coalesce(sa.func.sum(sa.func.length(messages.c.body)), 0))
    wanted = (
        sa.select(
            sessions.c.id, sessions.c.origin, sessions.c.updated, owners.c.profile, owners.c.person,
            size.where(messages.c.session_id == sessions.c.id).scalar_subquery().label("bytes"),
        )
        .where(sessions.c.owner == owners.c.id, sessions.c.origin != "child")
        .order_by(sessions.c.updated, sessions.c.id)
    )  # fmt: skip
    rows = connection.execute(wanted).all()
    left, found = sum(int(row.bytes) for row in rows), []
    for row in rows:
        most = platforms.get(row.origin, days)
        if (most and row.updated < now - most * _DAY) or (bytes_ and left > bytes_):
            left -= int(row.bytes)
            found.append(Old(row.id, Principal(profile=row.profile, person=row.person), int(row.bytes)))
    return found


async def retire(ctx: PluginContext) -> int:
    """Delete the sessions that are to go by the settings; how many went. One that is in use stays."""
    config, count = ctx.config, 0
    if not (config.days or config.megabytes or any(config.platforms.values())):
        return 0
    with connected(place_of(ctx)) as connection:
        found = old_sessions(connection, days=config.days, platforms=config.platforms, bytes_=config.megabytes * _MB)
    for old in found:
        with suppress(HermesError):  # in use again, or deleted by somebody else meanwhile
            await ctx.sessions.delete(old.owner, old.id)
            count += 1
    return count


def drop_outputs(home: Path, days: int) -> int:
    """Delete long outputs of tools that are older, and the folders that they leave empty; how many files went."""
    if not days:
        return 0
    count, before = 0, time.time() - days * _DAY
    for folder, _, names in os.walk(home / "cache" / "outputs", topdown=False):
        for name in names:
            path = Path(folder, name)
            with suppress(OSError):
                if path.lstat().st_mtime < before:
                    path.unlink()
                    count += 1
        if Path(folder) != home / "cache" / "outputs":
            with suppress(OSError):
                Path(folder).rmdir()
    return count
