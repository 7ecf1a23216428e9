"""``hermes gateway dead``: what was given up is listed with its reason, and can be sent again."""

import asyncio

from gateway_house import rows_of

from hermes_core.store.store import open_store
from hermes_core.types import Chat, Message, Principal, Text
from hermes_platform_gateway.rows.values import Outgoing


def given_up(cli, text: str, *, chat: str = "42", why: str = "The bot was put out.", profile: str = "") -> int:
    """A message that was given up; its number."""

    async def fail() -> int:
        store = open_store(cli.home / "state.db")
        try:
            outbox, message = rows_of(store).outbox, Message(role="assistant", parts=(Text(text=text),))
            owner = Principal(profile=profile) if profile else Principal()
            known = {"platform": "telegram", "account": "bot", "chat": Chat(chat), "message": message}
            await outbox.send_later(Outgoing(key=text, owner=owner, **known))
            [row] = await outbox.outbox_of(key=text)
            assert await outbox.mark_sending(row, "h", [message], repeated=0, now=1.0)
            assert await outbox.mark_failed(row, "h", why)
            return row.id
        finally:
            store.close()

    return asyncio.run(fail())


def test_where_nothing_was_given_up_it_says_so(cli):
    done = cli("gateway", "dead")
    assert (done.status, done.out) == (0, "")
    assert "No message was given up." in done.err
    assert cli("gateway", "dead", "--json").rows == []
    assert "Given up: 0." in cli("gateway", "status").out


def test_what_was_given_up_is_listed_and_sent_again(cli):
    first, second = given_up(cli, "Hello\x1b[2J there"), given_up(cli, "x" * 100)
    given_up(cli, "Of another profile.", profile="other")
    head, newest, oldest = cli("gateway", "dead").out.splitlines()
    assert head.split() == ["number", "to", "person", "given_up", "text", "why"]
    assert newest.split()[:2] == [str(second), "telegram:42"]
    assert "…" in newest
    assert oldest.endswith("The bot was put out.")
    assert "\x1b" not in oldest
    whole = cli("gateway", "dead", "--json").rows
    assert [row["text"] for row in whole] == ["x" * 100, "Hello\x1b[2J there"]
    assert "hermes gateway dead" in cli("gateway", "status").out
    assert cli("gateway", "dead", "send", str(first)).out == "To be sent again: 1.\n"
    assert [row["number"] for row in cli("gateway", "dead", "--json").rows] == [second]
    assert cli("gateway", "dead", "send", "--all", "--json").rows == [{"number": second, "state": "waiting"}]
    assert "To be sent: 2. Given up: 1" in cli("gateway", "status").out, "another profile's stays"


def test_what_is_to_be_sent_again_has_to_be_said(cli):
    number = given_up(cli, "Hello.")
    for words in ([], ["--all", str(number)]):
        done = cli("gateway", "dead", "send", *words)
        assert (done.status, "Say which ones, or --all." in done.err) == (2, True)
    wrong = cli("gateway", "dead", "send", "999")
    assert (wrong.status, "There is no given up message named '999'." in wrong.err) == (2, True)
