"""``hermes gateway pair``: who was let in, who waits, and letting them in and out."""

import asyncio

from hermes_core.gateway.people.pairing import code_for
from hermes_core.gateway.rows.kept import rows_of
from hermes_core.store.store import open_store
from hermes_core.types import Envelope, Message, Text


def stranger(cli, sender: str, name: str = "Mia") -> str:
    """Somebody writes, and gets a code."""

    async def ask() -> str:
        store = open_store(cli.home / "state.db")
        try:
            message = Message(role="user", parts=(Text(text="hi"),))
            known = {"platform": "telegram", "account": "bot", "event_id": "1", "message": message}
            return await code_for(rows_of(store), Envelope(chat=sender, sender=sender, sender_name=name, **known))
        finally:
            store.close()

    return asyncio.run(ask()).split("`")[1]


def test_nobody_yet(cli):
    done = cli("gateway", "pair", "list")
    assert (done.status, done.out) == (0, "")
    assert "Nobody was let in, and nobody waits." in done.err
    assert cli("gateway", "pair", "list", "--json").rows == []


def test_a_code_lets_in_and_revoke_lets_out(cli):
    code = stranger(cli, "7")
    waits = cli("gateway", "pair", "list", "--json").row
    assert waits == waits | {"platform": "telegram", "sender": "7", "name": "Mia", "state": "waits", "person": ""}
    assert code not in str(waits)
    done = cli("gateway", "pair", "approve", code)
    assert (done.status, done.out) == (0, "Let in: Mia on telegram, as user telegram:7.\n")
    head, line = cli("gateway", "pair", "list").out.splitlines()
    assert head.split() == ["platform", "sender", "name", "state", "person", "since"]
    assert line.split() == ["telegram", "7", "Mia", "user", "telegram:7", "just", "now"]
    assert cli("gateway", "pair", "revoke", "telegram", "7").out == "7 on telegram is not let in by a code any more.\n"
    again = cli("gateway", "pair", "revoke", "telegram", "7")
    assert again.status == 2
    assert "There is no account named 'telegram 7'." in again.err
    assert cli("gateway", "pair", "list", "--json").rows == []


def test_as_whom_and_as_what(cli):
    told = cli("gateway", "pair", "approve", stranger(cli, "1"), "--as", "owner")
    assert "as admin owner" in told.out
    assert "They are you from now on" in told.err
    row = cli("gateway", "pair", "approve", stranger(cli, "2"), "--as", "anna", "--admin", "--json").row
    assert row == {"platform": "telegram", "sender": "2", "name": "Mia", "person": "anna", "role": "admin"}
    wrong = cli("gateway", "pair", "approve", stranger(cli, "3"), "--as", "telegram:2")
    assert wrong.status == 2
    assert "'telegram:2' cannot be a person's name." in wrong.err


def test_wrong_codes(cli):
    code = stranger(cli, "7")
    for _ in range(5):
        done = cli("gateway", "pair", "approve", "ABCDEFGH")
        assert (done.status, done.out) == (2, "")
        assert "There is no code named 'ABCDEFGH'." in done.err
    locked = cli("gateway", "pair", "approve", code)
    assert locked.status == 2
    assert "There were 5 wrong codes; none is taken here for 60 minutes." in locked.err


def test_what_a_stranger_is_called_cannot_move_the_cursor(cli):
    code = stranger(cli, "7", "\x1b[2J\nMia")
    done = cli("gateway", "pair", "approve", code)
    assert "\x1b" not in done.out
    assert done.out.count("\n") == 1


def test_a_tool_cannot_let_anybody_in(cli, monkeypatch):
    code = stranger(cli, "7")
    monkeypatch.setenv("HERMES_RUN", "1")
    for words in (("approve", code), ("revoke", "telegram", "7")):
        done = cli("gateway", "pair", *words)
        assert done.status == 2
        assert "may not change what hermes may do" in done.err
    assert cli("gateway", "pair", "list", "--json").row["state"] == "waits"
