"""A target means chats of one person, and only those."""

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import UnknownName, UserError
from hermes_platform_gateway.rows.values import KnownChat
from hermes_platform_gateway.targets import resolve

DM = KnownChat(platform="telegram", account="bot", chat="42", name="Mia")
GROUP = KnownChat(platform="telegram", account="bot", chat="-100", kind="group", name="Family")
TOPIC = evolve(GROUP, thread="5")
ROOM = KnownChat(platform="matrix", account="@b:example.org", chat="!r:example.org", kind="group", name="#Ops")
THREAD = evolve(ROOM, thread="$e:example.org")
KNOWN = [DM, TOPIC, GROUP, ROOM, THREAD]


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("local", []),
        ("telegram", [DM]),
        ("Telegram", [DM]),
        ("telegram:42", [DM]),
        ("telegram:-100", [GROUP]),
        ("telegram:-100:5", [TOPIC]),
        ("matrix:!r:example.org", [ROOM]),
        ("matrix:!r:example.org:$e:example.org", [THREAD]),
        ("mia", [DM]),
        (" family ", [GROUP]),
        ("telegram:Family", [GROUP]),
        ("ops", [ROOM]),
        ("@ops", [ROOM]),
        ("matrix:ops", [ROOM]),
        ("origin", [TOPIC]),
    ],
)
def test_targets_are_read_by_what_is_known(target: str, meant: list[KnownChat]):
    assert resolve(target, KNOWN, TOPIC) == meant


def test_a_home_goes_before_the_private_chat():
    home = evolve(GROUP, home=True)
    assert resolve("telegram", [DM, home]) == [home]
    assert resolve("all", [DM, home, evolve(ROOM, home=True)]) == [home, evolve(ROOM, home=True)]


def test_all_leaves_out_what_has_no_home_or_is_dead():
    assert resolve("all", KNOWN) == [DM]
    with pytest.raises(UserError, match="no home chat on any"):
        resolve("all", [evolve(DM, dead="blocked"), ROOM])


def test_without_a_chat_that_asked_origin_is_here():
    assert resolve("origin", KNOWN) == []


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("matrix", "no home chat on matrix"),
        ("telegram:43", "no target named 'telegram:43'"),
        ("telegram:-100:6", "no target named"),
        ("discord", "no target named 'discord'"),
        ("", "no target named ''"),
        ("matrix:!r", "no target named"),
    ],
)
def test_what_is_not_known_is_refused_in_plain_words(target: str, said: str):
    with pytest.raises(UserError, match=said):
        resolve(target, KNOWN)


def test_a_slip_of_the_pen_is_met_with_what_is_near():
    with pytest.raises(UnknownName, match="Did you mean 'Family'"):
        resolve("Famliy", KNOWN)


def test_a_name_of_several_chats_is_asked_back():
    with pytest.raises(UserError, match="could be 2 chats") as unclear:
        resolve("Mia", [DM, evolve(DM, chat="43")])
    assert "telegram:42, telegram:43" in str(unclear.value)


def test_of_two_bots_in_one_chat_the_last_used_speaks():
    other = evolve(DM, account="bot2")
    assert resolve("telegram:42", [other, DM]) == [other]
    assert resolve("mia", [other, DM]) == [other]


def test_a_dead_chat_says_why():
    with pytest.raises(UserError, match="Nothing can be delivered to telegram:42: the bot is blocked"):
        resolve("telegram", [evolve(DM, dead="the bot is blocked")])


def test_every_known_chat_is_reached_by_its_own_address():
    for chat in KNOWN:
        assert resolve(chat.address, KNOWN) == [chat]


text = st.text(alphabet="ab:#!@-1 ", max_size=6)
chats = st.builds(
    KnownChat, platform=st.sampled_from(["a", "b"]), account=text, chat=text, thread=text, name=text,
    kind=st.sampled_from(["dm", "group"]), home=st.booleans(), dead=st.sampled_from(["", "gone"]),
)  # fmt: skip


@given(st.text(max_size=8) | text, st.lists(chats, max_size=5), st.none() | chats)
def test_only_living_chats_of_the_person_are_ever_meant(target: str, known: list[KnownChat], origin: KnownChat | None):
    try:
        meant = resolve(target, known, origin)
    except UserError:
        return
    assert all(chat in known or chat == origin for chat in meant)
    assert not any(chat.dead for chat in meant)
