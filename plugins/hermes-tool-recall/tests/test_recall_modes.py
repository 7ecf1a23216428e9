"""Recall: search, read, scroll, list; over a past kept in memory."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import pytest

from hermes_core.agent.arguments import parse_arguments, tool_spec
from hermes_core.control import SessionsBroker
from hermes_core.errors import ToolError, UserError
from hermes_core.store.store import Store, open_store
from hermes_core.testing import FakeToolContext, FakeWorkspace
from hermes_core.types import (
    Effect,
    Hit,
    Message,
    Principal,
    Session,
    SessionRow,
    Text,
    ToolCall,
    ToolResult,
)
from hermes_tool_recall.lines import BUDGET
from hermes_tool_recall.tool import recall_tool

ME = Principal()
NOW = Session(id="now", origin="cli")
DAY = 86_400.0


class Past(SessionsBroker):
    """Conversations of several people in a store of their own, newest session last."""

    def __init__(self, folder: Path) -> None:
        self.store = open_store(folder / "state.db")
        self._told: list[tuple[Session, Sequence[Message | str]]] = []

    def tell(self, session: Session, *said: Message | str) -> None:
        """Add a conversation, or go on with it; plain texts are said by user and assistant in turn."""
        self._told.append((session, said))

    async def stored(self) -> Store:
        """Return the store with all that was told."""
        while self._told:
            session, said = self._told.pop(0)
            with suppress(UserError):  # it goes on
                await self.store.sessions.create(session)
            for number, one in enumerate(said):
                role: Literal["user", "assistant"] = "assistant" if number % 2 else "user"
                message = one if isinstance(one, Message) else Message(role=role, parts=(Text(text=one),))
                await self.store.history.add(session.id, message)
        return self.store

    async def search(
        self,
        owner: Principal,
        words: str,
        *,
        limit: int = 10,
        sort: Literal["best", "newest", "oldest"] = "best",
        children: bool = False,
        session_id: str = "",
    ) -> Sequence[Hit]:
        return await (await self.stored()).history.search(
            owner, words, limit=limit, sort=sort, children=children, session_id=session_id
        )

    async def rows(
        self, owner: Principal, *, limit: int = 20, origin: str = "", children: bool = False
    ) -> Sequence[SessionRow]:
        return await (await self.stored()).sessions.list(owner, limit=limit, origin=origin, children=children)

    async def get(self, owner: Principal, session_id: str) -> Session:
        return await (await self.stored()).sessions.get(session_id, owner)

    async def find(self, owner: Principal, words: str) -> Session:
        return await (await self.stored()).sessions.find(words, owner)

    async def read(
        self, owner: Principal, session_id: str, *, around: int = 0, window: int = 10
    ) -> Sequence[tuple[int, Message]]:
        return await (await self.stored()).history.messages(owner, session_id, around=around, window=window)


@pytest.fixture
def history(tmp_path: Path) -> Iterator[Past]:
    history = Past(tmp_path)
    history.tell(
        Session(id="a1-cats", origin="cli", title="Cat names", created=10 * DAY),
        "my cat is called Mia",
        "A lovely name.",
        "the other cat is Leo",
        "Two cats, then.",
    )
    history.tell(Session(id="b2-dogs", origin="telegram", title="Dog food", created=20 * DAY), "buy dog food", "Noted.")
    history.tell(
        Session(id="c3-cron", origin="cron", title="Nightly", created=25 * DAY), "report on the cat feeder", "Fine."
    )
    history.tell(Session(id="d4-hers", origin="cli", owner=Principal(person="hana"), title="Hers"), "my cat is secret")
    history.tell(NOW, "what did we say about my cat?")
    yield history
    history.store.close()


async def recall(history: Past, folder: Path, **arguments: Any) -> str:
    tool = recall_tool(history)
    context = FakeToolContext(FakeWorkspace(folder=folder), session=NOW)
    return str(await tool.run(context, parse_arguments(tool, arguments)))


async def test_a_search_gives_each_conversation_once_with_what_was_around(history: Past, tmp_path: Path):
    said = await recall(history, tmp_path, query="cat")
    assert said.startswith("2 conversations found for 'cat'")
    assert said.count("[a1-cats] Cat names · ") == 1
    assert "3 hits" in said
    assert "#3 user: the other cat is Leo" in said
    assert ">" in said
    assert "#2 assistant: A lovely name." in said


async def test_what_the_running_turn_says_is_not_found(history: Past, tmp_path: Path):
    asks = Message(role="assistant", parts=(ToolCall(id="1", name="recall", arguments={}), Text(text="my cat?")))
    history.tell(NOW, asks)
    assert "what did we say" not in await recall(history, tmp_path, query="cat")
    only = await recall(history, tmp_path, query="what did we say")
    assert only.startswith("Nothing was found for 'what did we say'")


@pytest.mark.parametrize("where", [{}, {"session": "this"}, {"session": "now"}])
async def test_what_this_conversation_said_before_is_found(history: Past, tmp_path: Path, where: dict[str, str]):
    history.tell(NOW, "The staging port is 48213.", "Noted.", "Which staging port was it?")
    history.tell(Session(id="z1", origin="cli"), "another staging port", "Yes.")
    said = await recall(history, tmp_path, query="staging port", **where)
    assert " · cli · this conversation" in said
    assert "48213" in said
    assert "Which" not in said.partition("around")[0]
    assert ("[z1]" in said) == (not where)


async def test_a_word_too_many_finds_what_holds_the_others(history: Past, tmp_path: Path):
    history.tell(Session(id="v1", origin="cli"), "the vault combination is 55-12-81", "Noted.")
    history.tell(Session(id="v2", origin="cli"), "the combination of colours", "Nice.")
    for query in ("vault combination warehouse", "what was the vault combination for the warehouse"):
        call = ToolCall(id="1", name="recall", arguments={"query": query})
        asks = Message(role="assistant", parts=(call, Text(text=query)))  # stored before it runs
        history.tell(NOW, asks)
        said = await recall(history, tmp_path, query=query, limit=1)
        assert "55-12-81" in said
        assert "colours" not in said


async def test_what_recall_itself_asked_and_answered_is_not_found(history: Past, tmp_path: Path):
    history.tell(Session(id="v1", origin="cli"), "the vault combination is 55-12-81", "Noted.")
    text = (Text(text="vault combination"),)
    result = ToolResult(call_id="1", name="recall", parts=text)
    history.tell(
        Session(id="v2", origin="cli"),
        "what is the vault combination?",
        Message(role="assistant", parts=(ToolCall(id="1", name="recall", arguments={}), *text)),
        Message(role="tool", parts=(result, *text)),
    )
    said = await recall(history, tmp_path, query="vault combination")
    assert said.startswith("2 conversations found")
    assert said.index("55-12-81") < said.index("what is the vault combination?"), "what answers comes before who asks"
    assert "hits" not in said


async def test_the_likeliest_comes_first_and_every_page_can_be_reached(history: Past, tmp_path: Path):
    far = " and so on" * 40
    history.tell(Session(id="v0", origin="cli"), "the vault combination of the warehouse is 55-12-81", "Noted.")
    for number in range(30):
        history.tell(Session(id=f"w{number}", origin="cli"), f"vault {far} combination {far} warehouse", "Yes.")
    first = await recall(history, tmp_path, query="vault combination warehouse")
    assert first.startswith("At least 30 conversations found for 'vault combination warehouse', best first, page 1.")
    assert first.index("[v0]") < first.index("[w29]")
    assert first.endswith("More conversations: page=2.")
    pages = [await recall(history, tmp_path, query="vault combination warehouse", page=n) for n in range(1, 13)]
    found = re.findall(r"^\[(\w+)\]", "\n".join(pages), re.MULTILINE)
    assert sorted(found) == sorted({"v0", *(f"w{n}" for n in range(30))})
    assert pages[9].startswith("31 conversations found")
    assert "page 10 of 11" in pages[9]
    assert pages[11] == "There is no page 12 of what was found for 'vault combination warehouse'."
    newest = await recall(history, tmp_path, query="vault combination warehouse", sort="newest")
    assert "[v0]" not in newest


async def test_a_long_message_can_be_read_whole(history: Past, tmp_path: Path):
    spec = "".join(f"Rule {n}: do it.\n" for n in range(1_000))
    history.tell(Session(id="s1", origin="cli"), "write it", spec, "thanks")
    pages = [await recall(history, tmp_path, session="s1", around=2, page=n) for n in (1, 2, 3)]
    assert max(map(len, pages)) <= BUDGET + 200
    parts = [page.partition(f"page {n} of 3:\n")[2].rpartition("\nEarlier: ")[0] for n, page in enumerate(pages, 1)]
    assert "".join(parts) == spec
    assert [f"page={n}." in page for n, page in enumerate(pages, 2)] == [True, True, False]


async def test_a_title_is_found_however_old_it_is(history: Past, tmp_path: Path):
    for number in range(250):
        history.tell(Session(id=f"n{number}", origin="cli", title=f"New {number}"), "hello")
    assert (await recall(history, tmp_path, session="Dog food")).startswith("[b2-dogs] Dog food")


async def test_words_that_were_found_are_not_marked(history: Past, tmp_path: Path):
    history.tell(Session(id="p1", origin="cli"), "the token limit is 4096", "Yes.")
    assert "#" in (said := await recall(history, tmp_path, query="token limit"))
    assert "user: the token limit is 4096" in said
    assert ">>>" not in said


async def test_what_another_person_said_is_never_found(history: Past, tmp_path: Path):
    assert "secret" not in await recall(history, tmp_path, query="cat", limit=10)
    with pytest.raises(ToolError, match="no conversation"):
        await recall(history, tmp_path, session="d4-hers")


async def test_what_a_schedule_said_comes_last(history: Past, tmp_path: Path):
    said = await recall(history, tmp_path, query="cat")
    assert said.index("a1-cats") < said.index("c3-cron")


async def test_words_that_never_stand_together_are_all_found(history: Past, tmp_path: Path):
    said = await recall(history, tmp_path, query="Mia feeder")
    assert "a1-cats" in said
    assert "c3-cron" in said


async def test_nothing_found_says_what_to_try(history: Past, tmp_path: Path):
    assert "Try other or fewer words" in await recall(history, tmp_path, query="zebra")


async def test_a_search_can_be_kept_to_one_conversation(history: Past, tmp_path: Path):
    said = await recall(history, tmp_path, query="cat", session="Nightly")
    assert said.startswith("1 conversation found")
    assert "a1-cats" not in said


@pytest.mark.parametrize("words", ["a1-cats", "a1", "cat names", "Cat"])
async def test_a_conversation_is_named_by_id_beginning_or_title(history: Past, tmp_path: Path, words: str):
    said = await recall(history, tmp_path, session=words)
    assert said.splitlines()[0].startswith("[a1-cats] Cat names")
    assert "#1 user: my cat is called Mia" in said
    assert said.endswith("Earlier: session=a1-cats around=1. Later: around=4.")


async def test_latest_is_the_one_before_this(history: Past, tmp_path: Path):
    assert (await recall(history, tmp_path, session="latest")).startswith("[c3-cron]")


async def test_an_unclear_name_lists_what_it_could_be(history: Past, tmp_path: Path):
    history.tell(Session(id="e5", origin="cli", title="Cat toys"), "balls")
    with pytest.raises(ToolError, match="2 conversations") as unclear:
        await recall(history, tmp_path, session="cat")
    assert "a1-cats" in str(unclear.value)
    assert "e5" in str(unclear.value)


async def test_scrolling_shows_the_messages_around_one(history: Past, tmp_path: Path):
    said = await recall(history, tmp_path, session="a1-cats", around=2, window=1)
    assert "> #2 assistant: A lovely name." in said
    assert "#3" in said
    assert "#4" not in said


@pytest.mark.parametrize("around", [99, 2**70])
async def test_scrolling_past_the_end_shows_the_end(history: Past, tmp_path: Path, around: int):
    said = await recall(history, tmp_path, session="a1-cats", around=around, window=1)
    assert "#4 assistant: Two cats, then." in said
    assert "#3" not in said


async def test_without_arguments_the_recent_conversations_are_listed(history: Past, tmp_path: Path):
    said = await recall(history, tmp_path)
    assert said.startswith("The last 3 conversations")
    assert said.index("c3-cron") < said.index("b2-dogs") < said.index("a1-cats")
    assert "#4 assistant: Two cats, then." in said
    assert "[now]" not in said


async def test_a_first_conversation_has_no_past(tmp_path: Path):
    assert await recall(Past(tmp_path), tmp_path) == "There are no earlier conversations."


async def test_tool_calls_and_their_results_are_shown_short(history: Past, tmp_path: Path):
    call = ToolCall(id="1", name="terminal", arguments={"command": "ls"})
    result = ToolResult(call_id="1", name="terminal", parts=(Text(text="x" * 5000),), failed=True)
    history.tell(
        Session(id="f6", origin="cli", title="Work"),
        "list them",
        Message(role="assistant", parts=(call,)),
        Message(role="tool", parts=(result,)),
    )
    said = await recall(history, tmp_path, session="f6")
    assert '→ terminal({"command": "ls"})' in said
    assert "terminal failed: xxx" in said
    assert len(said) < 1500


async def test_an_answer_has_an_end(history: Past, tmp_path: Path):
    history.tell(Session(id="long", origin="cli", title="Long"), *(f"word {n} " + "y" * 2000 for n in range(60)))
    for arguments in ({"session": "long", "around": 60, "window": 20}, {"query": "word", "limit": 10}):
        said = await recall(history, tmp_path, **arguments)
        assert len(said) <= BUDGET + 200
    assert "cut here" in await recall(history, tmp_path, session="long", window=20)


async def test_a_question_finds_its_answer_in_other_forms_of_its_words(history: Past, tmp_path: Path):
    history.tell(Session(id="g1", origin="cli"), "I went to a support group on my way home", "How was it?")
    history.tell(Session(id="g2", origin="cli"), "supporting the release takes a group of us", "Yes.")
    said = await recall(history, tmp_path, query="When did I go to those support groups?", limit=1)
    assert "[g1]" in said


async def test_what_changed_is_told_as_it_is_now_and_as_it_was_on_request(history: Past, tmp_path: Path):
    for number, colour in enumerate(("blue", "green", "red")):
        history.tell(Session(id=f"k{number}", origin="cli"), f"my favourite colour is {colour}", "Noted.")
    ask = {"query": "what is my favorite color?", "limit": 1}
    assert "red" in await recall(history, tmp_path, **ask)
    assert "blue" in await recall(history, tmp_path, **ask, sort="oldest")


async def test_a_hundred_recalls_do_not_hide_what_was_said(history: Past, tmp_path: Path):
    history.tell(Session(id="v1", origin="cli"), "the vault combination is 55-12-81", "Noted.")
    for number in range(100):
        call = ToolCall(id="1", name="recall", arguments={"query": "vault combination"})
        answer = ToolResult(call_id="1", name="recall", parts=(Text(text="vault combination: nothing"),))
        said = ("hello", Message(role="assistant", parts=(call,)), Message(role="tool", parts=(answer,)))
        history.tell(Session(id=f"r{number}", origin="cli"), *said)
    said = await recall(history, tmp_path, query="vault combination")
    assert said.startswith("1 conversation found")
    assert "55-12-81" in said


async def test_korean_words_are_found(history: Past, tmp_path: Path):
    history.tell(Session(id="k1", origin="cli", title="고양이"), "우리 고양이는 미아야", "네.")
    assert "우리 고양이는 미아야" in await recall(history, tmp_path, query="고양이")


def test_the_tool_costs_little():
    tool = recall_tool(SessionsBroker())
    spec = tool_spec(tool)
    text = json.dumps(
        {"name": spec.name, "description": spec.description, "parameters": spec.schema}, separators=(",", ":")
    )
    assert len(text) <= 700
    assert tool.effects == {Effect.RECALL}
    assert tool.idempotent
    assert not tool.untrusted
