"""A store of revision 0005 gives the gateway its rows, wherever a death falls: all of them, once, and nothing else."""

import asyncio
from pathlib import Path

import pytest
from gateway_house import rows_of
from statement_deaths import stores_after

from hermes_backend_postgresql.driver import PostgreSQL
from hermes_backend_postgresql.server import Server
from hermes_core.store.file_database import FileDatabase
from hermes_core.store.migrate import upgrade
from hermes_core.store.store import open_store
from hermes_core.store.versions.head import SQL
from hermes_core.types import Chat, Message, Principal, Text
from hermes_platform_gateway.rows.values import Outgoing

ME, MIA = Principal(), Principal(profile="work", person="mia")
SAID = '{"role":"assistant","parts":[{"type":"text","text":"Hi."}]}'
ROWS = [  # as the release with revision 0005 wrote them
    "INSERT INTO owners (id, profile, person) VALUES (1, 'default', 'owner'), (2, 'work', 'mia')",
    (
        "INSERT INTO outbox (id, owner, key, session_id, turn_id, trace, kind, platform, account, chat, thread,"
        " reply_to, body, state, placeholder, message_id, error, holder, tries, repeated, created, due, sent) VALUES"
        f" (5, 1, 'turn:t', 's', 't', 'aa', 'answer', 'irc', 'bot', '#a', 'x', '9', '{SAID}', 'sending', '7',"
        " '[\"8\"]', 'slow', 'h', 2, 1, 10.5, 20.5, 30.5),"
        f" (9, 2, 'k', '', '', '', 'notice', 'irc', 'bot', '#b', '', '', '{SAID}', 'waiting', '', '', '', '', 0, 0,"
        " 11.5, 0, 0)"
    ),
    (
        "INSERT INTO chats (id, owner, platform, account, chat, thread, kind, name, sender, dead, home, seen) VALUES"
        " (3, 1, 'irc', 'bot', '#a', 'x', 'group', 'Work', 'ann', '', 1, 5.5),"
        " (4, 2, 'irc', 'bot', '#b', '', 'dm', 'Mia', 'mia', 'gone', 0, 6.5)"
    ),
    (
        "INSERT INTO routes (key, owner, session_id, overrides, made, used) VALUES"
        " ('agent:main:irc', 1, 's', '{\"model\":\"m\"}', 1.5, 2.5), ('head:abc', 2, 'api', 't9', 3.5, 4.5)"
    ),
    "INSERT INTO people VALUES ('irc', 'mia', 'mia', 'admin', 'Mia', 'me', 7.5)",
    (
        "INSERT INTO pairings (id, platform, sender, account, chat, name, salt, hash, created, expires) VALUES"
        " (2, 'irc', 'zoe', 'bot', '#z', 'Zoe', '00', 'ff', 100.5, 200.5)"
    ),
    "INSERT INTO pairing_locks VALUES ('irc', 5, 300.5)",
]


def older(path: Path, url: str) -> None:
    """Make a store of revision 0005 with rows in each of the tables."""
    database = Server(url, SQL) if url else FileDatabase(path)

    def work(tx):
        upgrade(tx, database.place, to="0005")
        for sql in ROWS:
            tx.connection.execute(sql)

    database.transact(work)
    database.close()


async def play(store) -> None:
    """What a gateway does first."""
    await rows_of(store).outbox.outbox_counts()


async def look(store) -> None:
    """Hold everything that was there against what the gateway finds."""
    rows = rows_of(store)
    mine, hers = reversed(await rows.outbox.outbox_of())
    assert (mine.id, mine.outgoing.owner, mine.outgoing.key, mine.outgoing.chat) == (
        5,
        ME,
        "turn:t",
        Chat("#a", "x", "9"),
    )
    assert (mine.state, mine.placeholders, mine.receipts, mine.error, mine.holder) == (
        "sending",
        ("7",),
        ("8",),
        "slow",
        "h",
    )
    assert (mine.tries, mine.repeated, mine.created, mine.due, mine.sent) == (2, 1, 10.5, 20.5, 30.5)
    assert (mine.outgoing.session_id, mine.outgoing.turn_id, mine.outgoing.trace) == ("s", "t", "aa")
    assert (hers.id, hers.outgoing.owner, hers.state, hers.outgoing.kind) == (9, MIA, "waiting", "notice")
    assert mine.outgoing.message == hers.outgoing.message == Message(role="assistant", parts=(Text(text="Hi."),))
    seen = [
        (c.owner, c.address, c.kind, c.name, c.sender, c.dead, c.home, c.seen)
        for c in await rows.chats.list_chats(None)
    ]
    assert seen == [
        (MIA, "irc:#b", "dm", "Mia", "mia", "gone", False, 6.5),
        (ME, "irc:#a:x", "group", "Work", "ann", "", True, 5.5),
    ]
    route = await rows.routes.route("agent:main:irc", ME)
    assert (route.session_id, route.overrides, route.made, route.used) == ("s", {"model": "m"}, 1.5, 2.5)
    assert await rows.routes.route("head:abc", MIA) is None
    [person] = await rows.people.people()
    assert (person.platform, person.sender, person.person, person.role, person.name, person.by, person.since) == (
        ("irc", "mia", "mia", "admin", "Mia", "me", 7.5)
    )
    [waits] = await rows.people.pairings(now=150.0)
    assert (waits.id, waits.sender, waits.account, waits.chat, waits.salt, waits.hash) == (
        2,
        "zoe",
        "bot",
        "#z",
        "00",
        "ff",
    )
    assert await rows.people.pairing_locked("irc", now=200.5) == 100.0
    tables = store.database.transact(lambda tx: set(tx.objects()))
    assert not [
        name for name in tables if "left_" in name or name in ("outbox", "chats", "routes", "people", "pairings")
    ]


async def go_on(store) -> None:
    """What is new comes behind what was there."""
    message = Message(role="assistant", parts=(Text(text="Next."),))
    new = Outgoing(key="new", owner=ME, platform="irc", account="bot", chat=Chat("#c"), message=message)
    assert await rows_of(store).outbox.send_later(new)
    [row] = await rows_of(store).outbox.outbox_of(key="new")
    assert row.id == 10


async def test_a_store_that_nobody_serves_yet_keeps_the_rows_for_the_gateway(tmp_path, kept_in, request):
    cluster = request.getfixturevalue("cluster") if kept_in == "postgresql" else None
    path, url = tmp_path / "state.db", cluster.database() if cluster else ""
    older(path, url)
    for _ in range(2):
        open_store(path, url=url, driver=PostgreSQL()).close()
    store = open_store(path, url=url, driver=PostgreSQL())
    await look(store)
    await go_on(store)
    store.close()
    if cluster:
        cluster.drop(url)


@pytest.mark.long
def test_a_death_between_two_statements_loses_and_doubles_nothing(tmp_path, kept_in, request):
    cluster = request.getfixturevalue("cluster") if kept_in == "postgresql" else None
    template = cluster.database() if cluster else ""
    first = tmp_path / "first.db"
    older(first, template)
    deaths = -1  # the last one comes after none
    every = request.config.getoption("--every")
    for store in stores_after("test_kill_handed_over", first, cluster, template, every, opening=True):
        asyncio.run(look(store))
        asyncio.run(go_on(store))
        deaths += 1
    assert deaths > 8
