"""One id from what came in to what it led to, and the address an answer goes to."""

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hermes_core import trace
from hermes_core.store.inbox import address_from_json, address_to_json
from hermes_core.store.store import Store
from hermes_core.types import Envelope, Message, Principal, Session, Text

SAID = Message(role="user", parts=(Text(text="hello"),))
FROM = Envelope(
    platform="irc", account="bot", event_id="7", chat="#a", sender="s", thread="t", kind="group", addressed=False,
    sender_name="Sam", chat_name="Aa", message_id="m7", quote="before", roles=("op", "voice"), message=SAID,
)  # fmt: skip
_words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))


@given(
    st.fixed_dictionaries(
        dict.fromkeys(("platform", "account", "event_id", "chat", "sender", "thread", "sender_name", "quote"), _words)
        | {"kind": st.sampled_from(["dm", "group", "channel"]), "addressed": st.booleans()}
    ),
    st.lists(_words),
)
def test_an_address_comes_back_as_it_was(fields: dict[str, object], roles: list[str]) -> None:
    envelope = Envelope(**fields, roles=tuple(roles), message=SAID)  # type: ignore[arg-type]
    assert address_from_json(address_to_json(envelope), SAID) == envelope


def test_what_a_newer_kernel_added_to_an_address_is_no_harm() -> None:
    assert address_from_json(address_to_json(FROM)[:-1] + ',"planet":"Mars"}', SAID) == FROM


async def test_what_waits_knows_where_it_came_from(store: Store) -> None:
    await store.sessions.create(Session(id="s", origin="irc", owner=Principal()))
    changed = evolve(SAID, parts=(Text(text="changed"),))
    await store.inbox.wait("s", changed, mode="queue", envelope=FROM, trace="00ff00ff00ff00ff")
    [waiting] = await store.inbox.waiting("s")
    assert (waiting.trace, waiting.envelope) == ("00ff00ff00ff00ff", evolve(FROM, message=changed))


async def test_a_turn_taken_over_keeps_its_trace(store: Store) -> None:
    await store.sessions.create(Session(id="s", origin="irc", owner=Principal()))
    first = await store.journal.open_turn(
        "s", SAID, turn_id="t", envelope=FROM, trace="00ff00ff00ff00ff", holder="x", provider="p", model="m"
    )
    taken = await store.journal.resume_turn("s", holder="y", left=first.fence)
    assert taken
    assert taken.trace == "00ff00ff00ff00ff"


def test_a_trace_is_current_in_its_block_only() -> None:
    assert trace.current() == ""
    with trace.using() as outer:
        assert trace.current() == outer
        assert int(outer, 16) >= 0
        assert len(outer) == 16
        with trace.using() as kept:
            assert kept == outer
        with trace.using("aaaaaaaaaaaaaaaa"):
            assert trace.current() == "aaaaaaaaaaaaaaaa"
        assert trace.current() == outer
    assert trace.current() == ""
