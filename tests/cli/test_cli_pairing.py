"""``hermes gateway pair``: who was let in, who waits, and letting them in and out."""

import asyncio

from gateway_house import rows_of

from hermes_core.store.store import open_store
from hermes_core.types import Envelope, Message, Text
from hermes_platform_gateway.people.pairing import code_for


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


def test_who_is_let_in_by_a_setting_is_blocked_by_revoke(cli):
    cli.configure("platforms: {telegram: {allowed_users: ['7']}}\n")
    done = cli("gateway", "pair", "revoke", "telegram", "7")
    assert done.out == "7 on telegram is blocked: platforms.telegram.allowed_users would let them in.\n"
    [row] = [row for row in cli("people", "--json").rows if row["person"] == "telegram:7"]
    assert row["state"].startswith("blocked by")
    assert cli("people", "unblock", "telegram:7").out == "telegram:7 is heard again.\n"
    assert cli("people", "unblock", "7").out == "telegram:7 was not blocked.\n"
    assert "There is no person named 'nobody'." in cli("people", "mute", "nobody", "1h").err


def test_people_are_invited_at_the_terminal(cli):
    row = cli("people", "invite", "anna", "--json").row
    assert (row["person"], row["role"], len(row["word"])) == ("anna", "user", 20)
    assert "Say --admin if you mean it." in cli("people", "invite", "owner").err
    assert cli("people", "invite", "ben", "--admin", "--json").row["role"] == "admin"
    [waits] = [row for row in cli("people", "--json").rows if row["person"] == "anna"]
    assert waits["let_in"] == ["an invitation that waits"]
    assert cli("people", "quiet", "anna", "22-7", "--zone", "Europe/Berlin", "--json").row["until"] == "07:00"
    assert "There is no time zone named" in cli("people", "quiet", "anna", "22-7", "--zone", "Atlantis").err
    assert cli("people", "show", "anna", "--json").row["quiet"] == ["22:00-07:00 Europe/Berlin"]
    assert cli("people", "block", "anna", "--json").row["blocked"] is True
    assert cli("people", "show", "anna", "--json").row["invitations"] == []


def test_insights_are_of_each_person(cli):
    assert cli("insights", "--people", "--json").rows == []
    assert cli("-z", "hello").status == 0
    [row] = cli("insights", "--people", "--json").rows
    assert (row["person"], row["calls"]) == ("owner", 1)
    assert cli("insights", "--person", "owner", "--json").row["calls"] == 1
    assert "There is no person named 'nobody'." in cli("insights", "--person", "nobody").err
    assert cli("insights", "--people", "--daily").status == 2
