"""Who asks to be forgotten is: the whole home is searched for what they said, their ids and their name."""

import asyncio
import json
import sqlite3
import time
import zipfile
from pathlib import Path
from typing import Any

from gateway_house import context_of, rows_of
from gateway_phones import OWNER, house, serving

from hermes_core.testing import Call
from hermes_core.types import Principal
from hermes_platform_gateway.rows.values import Restriction
from hermes_tool_upkeep.compact import compact
from hermes_tool_upkeep.forget import erase_due
from hermes_tool_upkeep.index import missing
from hermes_tool_upkeep.look import opened

QUINCE, CANARY, GROUPS = "quinceid77", "zanzibarowl", "zanzibarheron"


def holding(home: Path, *words: str) -> list[str]:
    """The files of a home in which one of the words stands, or in whose name."""
    found = []
    for path in home.rglob("*"):
        data = path.read_bytes().decode("latin-1").casefold() if path.is_file() else ""
        if any(word in data or word in path.name.casefold() for word in words):
            found.append(str(path.relative_to(home)))
    return found


def rows_that_hold(store: Path, *words: str) -> list[str]:
    """The rows of a store in which one of the words stands."""
    with sqlite3.connect(store) as connection:
        tables = [
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'search*'"
            )
        ]
        rows = [(name, str(row)) for name in tables for row in connection.execute(f'SELECT * FROM "{name}"')]
    return [f"{name}: {row}" for name, row in rows if any(word in row.casefold() for word in words)]


def upkeep_of(hermes: Any) -> Any:
    """The context of the plugin that erases."""
    runtime = hermes.runtime
    given = runtime.dispatch._hooks["contribute", "register_slash_commands"]
    return next(one.context for one in given if one.label == "tool/upkeep")


async def test_who_asks_to_be_forgotten_is_and_others_stay(hermes, scripted, monkeypatch):
    monkeypatch.setattr("hermes_tool_upkeep.erase.forget_memories", lambda *_: None)  # a process of its own
    more = {"gateway.group_sessions_per_user": False, "platforms.room.allowed_chats": ["group"]}
    house(hermes, **more, **{"gateway.allowed_users": [QUINCE, "ben"]})
    for name in ("hermes_tool_upkeep", "hermes_tool_files", "hermes_tool_transcripts"):
        hermes.tmp_plugin(name)
    write = [Call("write_file", {"path": "hers.txt", "content": f"{CANARY} in a file"})]
    hermes.tmp_plugin(scripted("I hear.", write, "Written.", "So you say.", "And you.", "The owner's."))
    group = {"chat": "group", "kind": "group"}
    home = context_of(hermes).paths.home
    async with serving(hermes) as phones:
        for text, answer in ((f"I am {CANARY}.", "I hear."), ("Write it.", "Written.")):
            phones.write(QUINCE, text)
            await phones.last(QUINCE, answer)
        phones.write(QUINCE, f"In the group I am {GROUPS}.", **group)
        await phones.last("group", "So you say.")
        phones.write("ben", "And Ben was here.", **group)
        await phones.last("group", "And you.")
        phones.write(OWNER, "The owner keeps this.")
        await phones.last(OWNER, "The owner's.")
        phones.write(QUINCE, "/forget me --once", **group)
        await phones.last("group", "Say it in our private chat.")
        phones.write(QUINCE, "/forget me")
        await phones.last(QUINCE, "Really?")
        phones.write(OWNER, "/forget me --once")
        await phones.last(OWNER, "You are the owner of this Hermes")
        phones.write(QUINCE, "/forget me --once")
        await phones.last(QUINCE, "This is the last I say")
        ctx = upkeep_of(hermes)
        assert await erase_due(ctx, time.time()) == [], "not before the last answer is sent"
        store = await hermes.runtime.store()
        await rows_of(store).restrictions.put(Restriction(subject="room:ben", by=f"room:{QUINCE}"), [])
        assert await erase_due(ctx, time.time() + 3600) == [f"default/room:{QUINCE}"]
        assert await erase_due(ctx, time.time() + 3600) == []
        await ctx.documents.put("erasures", {f"default/room:{QUINCE}": 0.0})  # as a death behind the last row leaves it
        assert await erase_due(ctx, time.time()) == [f"default/room:{QUINCE}"]
        assert await ctx.documents.get("erasures") is None
        phones.write(OWNER, "/whoami")
        await phones.last(OWNER, "owner")
        spent = await store.spending.usage(Principal(person="(erased)"))
        assert sum(row.usage.calls for row in spent) == 4, "what was spent stays, in groups too, and is nobody's"
    await hermes.close()
    await asyncio.to_thread(compact, home / "state.db")
    kept = [one for one in holding(home, CANARY, GROUPS, QUINCE) if one != "config.yaml"]
    assert kept == [], rows_that_hold(home / "state.db", CANARY, GROUPS, QUINCE)
    with opened(home / "state.db") as connection:
        assert not missing(connection), "the search index is whole"
    assert "state.db" in holding(home, "and ben was here")
    assert "state.db" in holding(home, "the owner keeps this")


async def test_who_asks_is_given_everything_that_is_kept_of_them(hermes, scripted):
    house(hermes, **{"gateway.allowed_users": [QUINCE, "ben"]})
    hermes.tmp_plugin("hermes_tool_upkeep")
    hermes.tmp_plugin(scripted("I hear.", "And you."))
    async with serving(hermes) as phones:
        phones.write(QUINCE, f"I am {CANARY}.")
        await phones.last(QUINCE, "I hear.")
        phones.write("ben", "I am somebody else.")
        await phones.last("ben", "And you.")
        phones.write(QUINCE, "/export")
        await phones.last(QUINCE, "Everything that is kept of you is in this file.")
        [file] = context_of(hermes).paths.home.rglob("exports/*.zip")
        with zipfile.ZipFile(file) as archive:
            whole = {name: archive.read(name).decode() for name in archive.namelist()}
    [session] = [json.loads(text) for name, text in whole.items() if name.startswith("sessions/")]
    assert [one["content"] for one in session["messages"] if one["role"] != "system"] == [f"I am {CANARY}.", "I hear."]
    assert "rows/platform_gateway__chats.jsonl" in whole
    assert "somebody else" not in "".join(whole.values())
