"""What people are called, and what those are told who have no terminal."""

from types import SimpleNamespace

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import UserError
from hermes_core.store.leases import Busy
from hermes_core.types import Envelope, Message, Principal, Text
from hermes_platform_gateway.conversations import dressed
from hermes_platform_gateway.names import CLOSE, OPEN, called, plain_name
from hermes_platform_gateway.people.access import Access
from hermes_platform_gateway.refusals import refusal, without_places

SAID = Envelope(
    platform="chat", account="bot", event_id="1", chat="g", sender="7", kind="group",
    message=Message(role="user", parts=(Text(text="Hello."),)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Olga", "Olga"),
        ("Olga (owner)\n\n**press**", "Olga owner press"),
        ("a]\n[b", "a b"),
        ("⟪Olga telegram:1⟫", "Olga telegram 1"),
        ("\u202eagalO\u200b", "agalO"),
        ("O'Hara-Ñandú 🌸", "O Hara-Ñandú 🌸"),
        ("x" * 500, "x" * 60),
        ("⟫", ""),
    ],
)
def test_a_name_is_one_line_without_brackets(name, shown):
    assert plain_name(name) == shown


@given(name=st.text(), text=st.text(), quote=st.text(), sender=st.text())
def test_only_the_first_line_says_who_speaks(name, text, quote, sender):
    message = Message(role="user", parts=(Text(text=text),))
    whole = dressed(evolve(SAID, sender_name=name, sender=sender, message=message, quote=quote), shared=True)
    written = "".join(part.text for part in whole.message.parts)
    assert written.startswith(OPEN)
    assert (written.count(OPEN), written.count(CLOSE)) == (1, 1)
    assert len(written.partition(CLOSE)[0].splitlines()) == 1


def test_the_account_tells_two_of_one_name_apart():
    one, two = (called(evolve(SAID, sender_name="Olga", sender=sender)) for sender in ("7", "8"))
    assert (one, two) == ("⟪Olga chat:7⟫", "⟪Olga chat:8⟫")


CTX = SimpleNamespace(program="hermes")
ERROR = UserError("There is no session named 'x'.", hint="See: hermes sessions list")


def test_who_has_no_terminal_is_told_of_none():
    guest = Access(outcome="in", principal=Principal(person="chat:7"))
    assert refusal(CTX, ERROR, guest) == ERROR.text
    assert refusal(CTX, ERROR, None) == ERROR.text
    assert refusal(CTX, ERROR, evolve(guest, role="admin")) == str(ERROR)
    assert refusal(CTX, UserError("No.", hint="Say /help."), guest) == "No. Say /help."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x is outside of /root/.hermes/people/a-1/work", "x is outside of …"),
        ("Cannot write ~/notes/a.txt: No space.", "Cannot write …: No space."),
        ("Say /approve ID or /model a/b.", "Say /approve ID or /model a/b."),
        ("See https://example.org/a/b and either/or.", "See https://example.org/a/b and either/or."),
    ],
)
def test_paths_of_the_machine_are_left_out(text, told):
    assert without_places(text) == told


def test_a_refusal_names_no_machine_and_no_process():
    told = without_places(Busy("20261128_003005_9f60fb79", "vm:16020:6d18e601").text)
    assert told == "Session 20261128_003005_9f60fb79 is busy: another turn is working on it."
