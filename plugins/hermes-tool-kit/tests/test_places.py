"""What may be told in a group: what was said there, and nothing that a group has no part in."""

import pytest
from attrs import evolve

from hermes_core.control import SessionsBroker
from hermes_core.errors import UnknownName
from hermes_core.types import Envelope, Message, Session
from hermes_tool_kit.places import ToldHere

NOTHING = Message(role="user", parts=())
GROUP = Envelope(platform="p", account="b", event_id="", chat="g", sender="a", kind="group", message=NOTHING)
ASKED = {
    "here": GROUP,
    "thread": evolve(GROUP, thread="7", sender="ben"),
    "elsewhere": evolve(GROUP, chat="h"),
    "another bot": evolve(GROUP, account="c"),
    "private": evolve(GROUP, kind="dm"),
    "terminal": None,
}


class Sessions(SessionsBroker):
    """Sessions that were asked in chats."""

    async def asked_from(self, session_id, owner):
        if session_id not in ASKED:
            raise UnknownName("session", session_id)
        return ASKED[session_id]

    async def get(self, owner, session_id):
        return Session(id=session_id, origin="p")


async def shown(current, envelope=None):
    here = ToldHere(Sessions(), current, envelope)
    return {name for name in (*ASKED, "new", current.id) if await here.shows(name)}


@pytest.mark.parametrize("current", ["private", "terminal", "new"])
async def test_where_nobody_else_reads_all_is_told(current):
    assert await shown(Session(id=current, origin="p")) == {*ASKED, "new"}


@pytest.mark.parametrize("current", ["here", "thread"])
async def test_in_a_group_what_was_said_in_it_is_told(current):
    assert await shown(Session(id=current, origin="p")) == {"here", "thread"}


async def test_a_child_agent_tells_what_its_parent_may():
    child = Session(id="child_1", origin="child", parent="here")
    assert await shown(child) == {"here", "thread", "child_1"}


async def test_a_command_says_itself_where_it_was_written():
    assert await shown(Session(id="new", origin="p"), GROUP) == {"here", "thread", "new"}
    assert await shown(Session(id="private", origin="p"), GROUP) == {"here", "thread", "private"}
