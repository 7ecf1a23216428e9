"""What opens a closed host to a command: the person's own words, an answer of before, a person."""

import pytest
from attrs import evolve

from hermes_core.testing.fake_context import FakeToolContext
from hermes_core.types import Message, Principal, Session, Text, Verdict
from hermes_tool_terminal.hosts import may_reach

YES = Verdict(outcome="allow", by="person", choice="session")


def words(text, **more):
    return Message(role="user", parts=(Text(text=text),), **more)


@pytest.fixture
def say(ctx, place):
    """What comes of a wish for a host in a conversation: the answer, and how often a person was asked."""

    async def wish(host, *messages, session=None, verdict=None):
        session = session or Session(id="s", origin="cli", owner=ctx.owner)
        known = ctx.sessions.known
        known.setdefault(session.id, (session, list(messages)))
        context = FakeToolContext(place, session=session, verdict=verdict)
        told = []
        answer = await may_reach(ctx, context, "make", host, told)
        return answer, context.questions, told

    return wish


async def test_an_address_in_the_persons_words_opens_its_host_and_its_port_only(say):
    said = words("Look at https://docs.example/x and http://build.example:8443/y.")
    for host, answer in [
        ("docs.example:443", "session"),
        ("docs.example:80", "session"),
        ("docs.example:22", ""),
        ("build.example:8443", "session"),
        ("build.example:443", ""),
        ("sub.docs.example:443", ""),
        ("[::1]:443", ""),
    ]:
        assert (await say(host, said))[0] == answer, host


async def test_what_a_plugin_says_in_the_persons_place_names_nothing(say):
    said = words("Go on with https://docs.example/x.", meta={"hermes": {"sent_on": "goals"}})
    assert (await say("docs.example:443", said))[0] == ""


async def test_what_the_model_said_names_nothing(say):
    said = Message(role="assistant", parts=(Text(text="I open https://docs.example/x."),))
    assert (await say("docs.example:443", said))[0] == ""


async def test_a_child_may_reach_what_the_person_named_and_not_what_its_order_names(say, ctx):
    parent = Session(id="parent", origin="cli", owner=ctx.owner)
    ctx.sessions.known["parent"] = (parent, [words("Clone https://forge.example/a/b.")])
    child = Session(id="child", origin="child", owner=ctx.owner, parent="parent")
    order = words("Clone https://other.example/a/b.")
    assert (await say("forge.example:443", order, session=child))[0] == "session"
    assert (await say("other.example:443", order, session=child))[0] == ""


async def test_of_a_guest_an_admin_is_asked_whatever_they_named(say):
    guest = Session(id="g", origin="chat", owner=Principal(person="ann"))
    answer, (question,), _ = await say("docs.example:443", words("See https://docs.example"), session=guest)
    assert answer == ""
    assert question.to == "admin"
    assert "always" not in question.choices


async def test_a_yes_for_the_session_is_kept_and_does_not_outlive_text_from_outside(say, ctx):
    assert (await say("new.example:443", verdict=YES))[0] == "session"
    answer, questions, _ = await say("new.example:443")
    assert (answer, questions) == ("session", [])
    tainted = evolve(ctx.sessions.known["s"][0], untrusted=True)
    answer, questions, _ = await say("new.example:443", session=tainted)
    assert (answer, len(questions)) == ("", 1)
    assert (await say("new.example:443", session=tainted, verdict=YES))[0] == "session"
    assert await say("new.example:443", session=tainted) == ("session", [], [])


async def test_what_the_person_wants_instead_is_told(say):
    no = Verdict.refused("person", "use the mirror")
    answer, _, told = await say("new.example:443", verdict=no)
    assert answer == "deny"
    assert told == ["[new.example:443 stays closed: refused by the person, who wants this instead: use the mirror]"]
