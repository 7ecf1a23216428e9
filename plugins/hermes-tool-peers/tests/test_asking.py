"""Two profiles in one home: one asks, the other answers, in processes of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hermes_core.errors import UserError
from hermes_core.testing import Bench, Call, ScriptedProvider
from hermes_core.types import Session, ToolCall, ToolResult
from hermes_tool_peers.asking import ask
from hermes_tool_peers.taking import take
from hermes_tool_peers.tool import judge

TOLD: dict[str, Any] = {"from": "default", "chain": ["default"], "text": "Which day is it?", "key": "1", "later": False}


def hermes(home: Path, *words: str, stdin: str = "", ok: bool = True, **env: str) -> str:
    """What the program says."""
    environment = {**os.environ, "HERMES_HOME": str(home), **env}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "hermes_core", *words],
        input=stdin, capture_output=True, text=True, env=environment, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode == 0) is ok, done.stderr
    return done.stdout if ok else done.stderr


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the profile bob, which answers the default one with the model that is part of Hermes."""
    made = tmp_path_factory.mktemp("home")
    hermes(made, "profile", "create", "bob")
    for words in ((), ("-p", "bob")):
        hermes(made, *words, "plugins", "enable", "peers", "--yes")
        hermes(made, *words, "config", "set", "model.provider", "offline")
    hermes(made, "-p", "bob", "config", "set", "tools.peers.take", "[default]")
    return made


@pytest.mark.long
def test_an_agent_is_asked_in_its_own_home_once_for_a_key(home: Path) -> None:
    found = [json.loads(hermes(home, "peer", "ask", "bob", "Hello.", "--key", "k", "--json")) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0]["answer"]
    sessions = hermes(home, "-p", "bob", "sessions", "list")
    assert "With the agent default" in sessions
    assert "With the agent" not in hermes(home, "sessions", "list")
    assert hermes(home, "peer", "ask", "bob", "Hello.").strip()
    assert len([line for line in sessions.splitlines() if "With the agent" in line]) == 1


def test_a_message_is_left_for_its_gateway(home: Path) -> None:
    found = json.loads(hermes(home, "peer", "send", "bob", "Good night.", "--json"))
    assert set(found) == {"session"}


def test_who_is_not_named_is_not_answered_and_what_is_wrong_is_said(home: Path) -> None:
    assert "default does not answer bob" in hermes(home, "-p", "bob", "peer", "ask", "default", "Hello.", ok=False)
    assert "nobody" in hermes(home, "peer", "ask", "nobody", "Hello.", ok=False)
    assert "no command for people" in hermes(home, "-p", "bob", "peer", "take", stdin="{}", ok=False)
    hermes(home, "profile", "create", "cleo")
    said = hermes(home, "peer", "ask", "cleo", "Hello.", ok=False)
    assert "Traceback" not in said
    assert "hermes -p cleo plugins enable peers" in said


@pytest.mark.parametrize(
    ("name", "text", "hint"),
    [
        ("boob", "Did you mean 'bob'?", "hermes profile create boob"),
        ("default", "default is this profile itself.", "There is: bob"),
        ("BÖB", "There is no agent named 'BÖB'.", "small letters"),
        ("../bob", "There is no agent named '../bob'.", "small letters"),
        ("", "There is no agent named ''.", "small letters"),
        ("a\nb\0", r"There is no agent named 'a\nb\x00'.", "small letters"),
        ("x" * 5000, "There is no agent named 'xxx", "small letters"),
    ],
)
async def test_a_strange_name_is_said_in_one_clear_line(tmp_path: Path, name: str, text: str, hint: str) -> None:
    (tmp_path / "profiles" / "bob").mkdir(parents=True)
    bench = Bench(tmp_path)
    bench.tmp_plugin("hermes_tool_peers")
    try:
        with pytest.raises(UserError) as told:
            await ask(bench.context("hermes_tool_peers"), name, "Hello.", "k")
    finally:
        await bench.close()
    assert text in told.value.text
    assert hint in told.value.hint
    assert len(told.value.text) < 200
    assert "\n" not in told.value.text


def test_a_tool_of_hermes_asks_nobody_by_the_command(home: Path) -> None:
    for words in (("peer", "ask", "bob", "x"), ("-p", "bob", "peer", "take")):
        said = hermes(home, *words, stdin=json.dumps(TOLD), ok=False, HERMES_RUN="0" * 32)
        assert "Traceback" not in said


class House:
    """Bob, as a kernel in this process."""

    def __init__(self, folder: Path, *steps: Any, **settings: Any) -> None:
        base = folder / "profiles" / "bob"
        base.mkdir(parents=True)
        self.bench, self.provider = Bench(base), ScriptedProvider(steps)
        self.bench.tmp_plugin(self.provider)
        self.bench.tmp_plugin("hermes_tool_peers")
        self.bench.configure(
            {f"tools.peers.{name}": value for name, value in {"take": ["default"], **settings}.items()}
        )
        self.ctx = self.bench.context("hermes_tool_peers")

    async def told(self, **more: Any) -> Any:
        return await take(self.ctx, json.dumps({**TOLD, **more}))


async def test_what_an_agent_says_is_from_outside_and_bounded(tmp_path: Path) -> None:
    bob = House(tmp_path, "It is Monday.", "Still.")
    first = await bob.told()
    assert first["answer"] == "It is Monday."
    assert await bob.told() == first, "one key is one turn"
    second = await bob.told(key="2")
    assert second["session"] == first["session"]
    store = await bob.bench.runtime.store()
    said = [one for one in await store.history.load(first["session"]) if one.role == "user"]
    assert [one.untrusted for one in said] == [True, True]
    assert not bob.provider.requests[0].tools, "no tools but those of the settings"
    await bob.bench.close()


async def test_a_day_has_an_end(tmp_path: Path) -> None:
    bob = House(tmp_path, "One.", per_day=1)
    await bob.told()
    with pytest.raises(UserError, match="1 times today"):
        await bob.told(key="2")
    await bob.bench.close()


@pytest.mark.parametrize(
    "more",
    [
        {"from": "nobody", "chain": ["nobody"]},
        {"chain": []},
        {"chain": ["bob", "default"]},
        {"chain": ["default", "cleo"]},
        {"text": " "},
    ],
)
async def test_what_no_agent_says_is_refused(tmp_path: Path, more: Any) -> None:
    bob = House(tmp_path, take=["*"])
    with pytest.raises(UserError, match="No agent"):
        await bob.told(**more)
    await bob.bench.close()


async def test_a_question_does_not_go_back_to_where_it_came_from(tmp_path: Path) -> None:
    (tmp_path / "profiles" / "cleo").mkdir(parents=True)
    calls = [Call("peer", {"name": name, "text": "And you?"}) for name in ("default", "cleo")]
    bob = House(tmp_path, *calls, "Nobody answers.", tools=["peer"], ask=["default", "cleo"], hops=1)
    bob_said = await bob.told()
    assert bob_said["answer"] == "Nobody answers."
    results = [
        part for message in bob.provider.requests[-1].messages for part in message.parts if isinstance(part, ToolResult)
    ]
    assert len(results) == 2
    assert all(one.failed for one in results)
    await bob.bench.close()


async def test_whom_the_settings_name_is_asked_without_a_yes_unless_text_is_from_outside(tmp_path: Path) -> None:
    bob = House(tmp_path, ask=["default"])
    clean, tainted = Session(id="s", origin="cli"), Session(id="s", origin="cli", untrusted=True)
    call = ToolCall(id="1", name="peer", arguments={"name": "default", "text": "x"})
    found = judge(bob.ctx, clean, call)
    assert found
    assert found.outcome == "allow"
    assert judge(bob.ctx, tainted, call) is None
    assert judge(bob.ctx, clean, ToolCall(id="1", name="peer", arguments={"name": "cleo", "text": "x"})) is None
    listed = judge(bob.ctx, tainted, ToolCall(id="1", name="peer", arguments={"action": "list"}))
    assert listed
    await bob.bench.close()
