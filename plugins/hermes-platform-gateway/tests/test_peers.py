"""Several agents in one group: each in a home of its own, with a bot of its own, and people among them."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from gateway_house import context_of, rows_of

from hermes_core.kinds import tool
from hermes_core.testing import Call, FakePlatform, ScriptedProvider
from hermes_core.testing.bench import Bench
from hermes_core.types import Effect, Envelope, Feature, Message, Principal, Text
from hermes_platform_gateway.gateway import Gateway
from hermes_platform_kit.peers import PEER, is_peer, named_in


class Bot(FakePlatform):
    """One bot in the group. What it sends is heard by the others whom it names, as their service would tell them."""

    def __init__(self, group: "Group", name: str, features: Any = ()) -> None:
        super().__init__(features=features, name="fake")
        self.account, self.group = name, group

    async def send(self, chat: Any, message: Message, key: str) -> Any:
        sent = await super().send(chat, message, key)
        text = "".join(part.text for part in message.parts if isinstance(part, Text))
        self.group.said.append((self.account, text))
        self.group.write(self.account, text, answers=chat.reply_to, bot=True)
        return sent


class Group:
    """A chat with several bots and people."""

    def __init__(self) -> None:
        self.bots: dict[str, Bot] = {}
        self.said: list[tuple[str, str]] = []
        self.number, self.authors = 0, dict[str, tuple[str, str]]()

    def write(self, sender: str, text: str, *, answers: str = "", bot: bool = False, chat: str = "g") -> None:
        self.number += 1
        number = f"m{self.number}"
        self.authors[number] = (sender, text)
        by, quote = self.authors.get(answers, ("", ""))
        for name, one in self.bots.items():
            named = named_in(text, [f"@{name}"])
            if name == sender or (bot and not named):
                continue
            one.service.bring(
                Envelope(
                    platform="fake", account=name, event_id=number, chat=chat, sender=sender, kind="group",
                    message_id=number, addressed=named, quote=quote, quote_by=by, roles=(PEER,) if bot else (),
                    message=Message(role="user", parts=(Text(text=text),), untrusted=bot),
                )
            )  # fmt: skip

    async def until(self, count: int, seconds: float = 20.0) -> list[tuple[str, str]]:
        """What the bots said, once it is so much and nothing more comes."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while len(self.said) < count:
                    await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        return self.said


ALL = {
    "gateway.allowed_users": ["anna"],
    "gateway.peers.seconds": 0,
    "gateway.tell_groups": False,
    "gateway.reactions": False,
    "platforms.fake": {"peers": ["@ada", "@bob"]},
}


@asynccontextmanager
async def meeting(tmp_path: Path, features: Any = (), **answers: Any):
    """A group in which each agent has a home of its own; ``answers`` are the steps of their models."""
    group = Group()
    async with AsyncExitStack() as stack:
        stops, benches = [], {}
        for name, (steps, more, things) in answers.items():
            home = tmp_path / name
            home.mkdir()
            bench = Bench(home)
            stack.push_async_callback(bench.close)
            provider = ScriptedProvider(steps)
            bench.tmp_plugin(provider)
            bench.tmp_plugin("hermes_tool_commands")
            bench.tmp_plugin("hermes_tool_roles")
            for one in things:
                bench.tmp_plugin(one)
            bench.configure({**ALL, **more})
            bot = group.bots[name] = Bot(group, name, features)
            gateway, stop = Gateway(context_of(bench), [bot]), asyncio.Event()
            await rows_of(bench).accounts.list()  # its tables are there: alembic makes those of one kernel at a time
            stops.append((stop, asyncio.create_task(gateway.run(stop))))
            benches[name] = (bench, provider)
        try:
            yield group, benches
        finally:
            for stop, task in stops:
                stop.set()
                await task


def agent(*steps: Any, things: Any = (), **more: Any) -> Any:
    return steps, {name.replace("__", "."): value for name, value in more.items()}, things


async def test_one_agent_asks_another_and_each_knows_its_own(tmp_path: Path) -> None:
    ada = agent("@bob, which day is it?", "So it is Monday.")
    bob = agent("@ada It is Monday.")
    async with meeting(tmp_path, ada=ada, bob=bob) as (group, benches):
        group.write("anna", "@ada ask bob which day it is")
        said = await group.until(3)
        assert said == [
            ("ada", "@bob, which day is it?"),
            ("bob", "@ada It is Monday."),
            ("ada", "So it is Monday."),
        ]
        for bench, _ in benches.values():
            store = await bench.runtime.store()
            (row,) = await store.sessions.list(Principal(person="fake:anna"))
            assert row.session.origin == "fake", "it is in the conversation of the person who began"
            assert await store.sessions.list(Principal(person="fake:ada")) == []
        asked = str(benches["bob"][1].requests[0].messages)
        assert "⟪fake:ada⟫" in asked
        system = str(benches["bob"][1].requests[0])
        assert "Other agents may be here: @ada, @bob" in system


async def test_two_agents_do_not_go_on_for_ever_and_a_person_begins_anew(tmp_path: Path) -> None:
    talk = ["@bob and you?"] * 12, ["@ada and you?"] * 12
    ada, bob = agent(*talk[0], gateway__peers__hops=2), agent(*talk[1], gateway__peers__hops=2)
    async with meeting(tmp_path, ada=ada, bob=bob) as (group, benches):
        group.write("anna", "@ada talk to @bob")
        said = await group.until(8)
        assert len(benches["ada"][1].requests) <= 3
        assert len(benches["bob"][1].requests) <= 3
        ends = [text for _, text in said if "A person has to speak" in text]
        assert 1 <= len(ends) <= 2
        before = len(benches["ada"][1].requests)
        group.write("anna", "@ada once more")
        await group.until(len(said) + 3)
        assert before < len(benches["ada"][1].requests) <= before + 3
        for _, provider in benches.values():
            provider._played = len(provider._steps)  # how many rounds it was is no matter here


async def test_the_count_is_kept_over_a_restart(tmp_path: Path) -> None:
    home = tmp_path / "bob"
    home.mkdir()
    group = Group()
    for number in range(2):
        bench = Bench(home)
        provider = ScriptedProvider(["One."] if number == 0 else [])
        bench.tmp_plugin(provider, name="model")
        bench.tmp_plugin("hermes_tool_roles")
        bench.configure({**ALL, "gateway.peers.hops": 1})
        bot = group.bots["bob"] = Bot(group, "bob")
        gateway, stop = Gateway(context_of(bench), [bot]), asyncio.Event()
        task = asyncio.create_task(gateway.run(stop))
        if number == 0:
            group.authors["m0"] = ("anna", "@ada ask @bob")
            group.write("ada", "@bob what?", answers="m0", bot=True)
            await group.until(1)
        else:
            group.write("ada", "@bob and now?", answers="m0", bot=True)
            group.write("ada", "@bob hello?", answers="m0", bot=True)
            said = await group.until(2)
            assert said[1:] == [("bob", "I answered other agents 1 times. A person has to speak before I go on.")]
        stop.set()
        await task
        await bench.close()
        assert len(provider.requests) == (number == 0)


@tool(name="act", toolset="acts", effects=[Effect.EXECUTE])
async def act() -> str:
    """Do something."""
    raise AssertionError("an agent had it done")


async def test_what_an_agent_writes_is_no_command_no_answer_and_no_order(tmp_path: Path) -> None:
    more = {"policy__mode": "off", "gateway__people": {"owner": ["fake:anna"]}}
    bob = agent(Call("act", {}), "I may not.", "Fine.", things=(act,), **more)
    async with meeting(tmp_path, bob=bob) as (group, benches):
        group.authors["m0"] = ("anna", "@ada ask @bob")
        group.write("ada", "@bob /new", answers="m0", bot=True)
        await group.until(1)
        assert group.said == [("bob", "I may not.")]
        _, provider = benches["bob"]
        (result,) = provider.requests[-1].messages[-1].parts
        assert result.failed
        assert "this turn may not use it" in result.parts[0].text
        store = await benches["bob"][0].runtime.store()
        (row,) = await store.sessions.list(Principal())
        assert [one.untrusted for one in await store.history.load(row.session.id) if one.role == "user"] == [True]
        group.write("ada", "@bob /yolo", answers="m0", bot=True)
        await group.until(2)
        assert group.said[1] == ("bob", "Fine.")


async def test_what_names_an_agent_is_sent_and_not_edited_in(tmp_path: Path) -> None:
    """Bots hear what is sent, and not what it is edited to; people see both."""
    ada = agent("@bob, which day is it?", "It is Monday.")
    async with meeting(tmp_path, features=(Feature.EDIT,), ada=ada) as (group, _):
        group.write("anna", "@ada ask bob which day it is")
        assert await group.until(1) == [("ada", "@bob, which day is it?")]
        group.write("anna", "@ada which day is it?")
        assert (await group.until(2))[1:] == [("ada", "…")]


async def test_where_no_person_began_nobody_is_answered(tmp_path: Path) -> None:
    async with meeting(tmp_path, bob=agent("Hello Anna.")) as (group, benches):
        group.write("ada", "@bob hello", bot=True)
        group.authors["m0"] = ("mallory", "@ada ask @bob")
        group.write("ada", "@bob hello", answers="m0", bot=True)
        await group.until(1, seconds=1.0)
        assert group.said == []
        group.write("anna", "@bob hello")
        await group.until(1)
        assert group.said == [("bob", "Hello Anna.")]
        assert len(benches["bob"][1].requests) == 1


async def test_what_waited_is_answered_for_who_began_whoever_spoke_since(tmp_path: Path) -> None:
    home = tmp_path / "bob"
    home.mkdir()
    bench = Bench(home)
    bench.tmp_plugin("hermes_tool_roles")
    bench.configure({**ALL, "gateway.allowed_users": ["anna", "ben"]})
    gateway = Gateway(context_of(bench), [])
    known: dict[str, Any] = {"platform": "fake", "account": "bob", "chat": "g", "kind": "group"}
    message = Message(role="user", parts=(Text(text="@bob hello"),))
    peer = Envelope(**known, event_id="p", sender="ada", roles=(PEER,), message=message)
    assert (await gateway._peers.began(peer))[1].outcome == "silent"
    began = []
    for number, person in enumerate(("anna", "ben")):
        await gateway._peers.spoke(Envelope(**known, event_id=str(number), sender=person, message=message))
        began.append(await gateway._peers.began(peer))
    assert [sender for sender, _ in began] == ["anna", "ben"]
    waited = evolve(peer, speaker=began[0][1].speaker)
    assert (await gateway._peers.began(waited))[0] == "anna"
    assert (await gateway._access(waited)).principal.person == "fake:anna"
    gone = evolve(peer, speaker=evolve(began[0][1].speaker, person="fake:cleo"))
    assert (await gateway._peers.began(gone))[1].outcome == "silent"
    await bench.close()


async def test_the_cool_down_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("hermes_platform_gateway.peers.asyncio", type("", (), {"sleep": staticmethod(sleep)}))
    async with meeting(tmp_path, bob=agent("One.", "Two.", gateway__peers__seconds=60)) as (group, _):
        group.authors["m0"] = ("anna", "@ada ask @bob")
        for number in range(2):
            group.write("ada", f"@bob hello {number}", answers="m0", bot=True)
            await group.until(number + 1)
    assert len(waits) == 1
    assert 50 < waits[0] <= 60


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("@bob hello", True),
        ("well, @BOB.", True),
        ("ask @bob's cat", True),
        ("@bobby", False),
        ("@bob.example", False),
        ("mail a@bob", False),
        ("bob", False),
        ("", False),
        ("@bob:example.org", False),
    ],
)
def test_when_a_text_names_somebody(text: str, named: bool) -> None:
    assert named_in(text, ["@bob"]) is named


def test_without_names_nobody_is_named() -> None:
    assert not named_in("@bob", [])
    assert not named_in("bob", ["bob"])
    known: Any = {"platform": "x", "account": "b", "event_id": "1", "chat": "c", "sender": "s"}
    assert not is_peer(Envelope(**known, message=Message(role="user", parts=())))
