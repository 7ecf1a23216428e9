"""mem0 as it is, with models that stand in: facts taken out of turns, each person's own, and gone to the last byte."""

import multiprocessing
import os
import sys
import threading
from pathlib import Path

import pytest
from attrs import evolve

from hermes_core.errors import ToolError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import ScriptedProvider
from hermes_core.testing.contract_base import manifest_path
from hermes_core.testing.fake_context import plugin_context
from hermes_core.types import Message, Principal, Session, Source, Text
from hermes_memory_mem0.config import Config
from hermes_memory_mem0.engine import Folder
from hermes_memory_mem0.memory import Mem0Memory

sys.path.insert(0, str(Path(__file__).parent))  # pytest does not do it in this import mode

from stand_in import StandIn

ME, BEN = Principal(), Principal(person="ben")
SAID = Source(by="user", session_id="old")
SESSION = Session(id="s", origin="cli")


@pytest.fixture
def models():
    return StandIn()


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def memory_of(home, models, config=None):
    context = plugin_context(read_manifest(manifest_path("hermes_memory_mem0")), home, config=config or Config())
    return Mem0Memory(evolve(context, llm=models))


@pytest.fixture
def memory(home, models):
    return memory_of(home, models)


def message(text, role="user"):
    return Message(role=role, parts=(Text(text=text),))


async def texts(memory, query="", owner=ME, limit=9):
    return [memo.text for memo in await memory.search(owner, query, limit)]


async def test_facts_are_taken_out_of_a_turn_and_told_with_another(memory, models):
    models.facts = ["The person moved to Oslo.", "The person cooks."]
    turn = [message("I moved to Oslo, and I cook."), message("Good for you.", "assistant")]
    await memory.learn(SESSION, turn)
    assert "I moved to Oslo" in models.told[0]
    assert "Good for you." in models.told[0]
    assert set(await texts(memory)) == set(models.facts)
    other = Session(id="t", origin="cli")
    [memo] = await memory.prefetch(other, message("Which moved to town, Oslo?"))
    assert memo.text == "The person moved to Oslo."
    assert (memo.source.by, memo.source.session_id, memo.source.trusted) == ("mem0", "s", True)
    assert not await memory.prefetch(SESSION, message("moved to Oslo")), "what was said here its model knows"
    assert not await memory.prefetch(evolve(other, owner=BEN), message("moved to Oslo"))


async def test_a_turn_is_looked_at_once_and_a_look_that_failed_again(memory, models):
    first, second = message("I moved to Oslo in May."), message("I began to cook as well.")
    models.broken = True
    with pytest.raises(ToolError, match="models that do not answer"):
        await memory.learn(SESSION, [first])
    models.broken = False
    await memory.learn(SESSION, [first, second])
    await memory.learn(SESSION, [first, second, message("And I sing a lot.")])
    assert "Oslo" not in models.told[-1].split("## New Messages")[-1]
    assert "sing" in models.told[-1]


async def test_nothing_is_asked_where_learning_is_off(home, models):
    memory = memory_of(home, models, Config(learn=False))
    await memory.learn(SESSION, [message("I moved to Oslo in May.")])
    assert not models.told
    assert not (home / "data" / "mem0").exists() or not await texts(memory)


async def test_a_fact_that_changed_comes_first(memory):
    for place in ("cellar", "attic"):
        await memory.add(ME, f"The printer stands in the {place}.", SAID)
    await memory.add(ME, "The car is red.", SAID)
    assert (await texts(memory, "where does the printer stand"))[:2] == [
        "The printer stands in the attic.",
        "The printer stands in the cellar.",
    ]


@pytest.mark.long
async def test_what_is_forgotten_or_erased_leaves_no_byte(memory, home):
    kept = [await memory.add(ME, f"canary{number:03d}x is a fact.", SAID) for number in range(20)]
    await memory.add(BEN, "canary of ben.", SAID)
    for memo in kept[:15]:
        await memory.forget(ME, memo.id)
    gone = [f"canary{number:03d}x".encode() for number in range(15)]
    everything = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert not [one for one in gone if one in everything]
    assert b"canary015x" in everything
    assert await memory.erase(ME) == 5
    everything = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"canary015x" not in everything
    assert await texts(memory, owner=BEN) == ["canary of ben."]


async def test_another_model_makes_all_anew(memory, models):
    await memory.add(ME, "The printer stands in the attic.", SAID)
    await memory.add(ME, "Said by a page.", Source(by="web", trusted=False))
    before = {memo.id: memo for memo in await memory.search(ME, "", 9)}
    models.model, models.size = "others", 64
    assert await texts(memory, "printer") == ["The printer stands in the attic."]
    after = {memo.id: memo for memo in await memory.search(ME, "", 9)}
    assert after == before, "ids, texts and where they are from stay"
    [folder] = [one for one in memory._ctx.paths.data.iterdir() if one.name != ".mem0"]
    assert len(list(folder.glob("store-*"))) == 1


async def test_what_died_while_it_made_all_anew_has_lost_nothing(memory, models, monkeypatch):
    await memory.add(ME, "The printer stands in the attic.", SAID)
    models.model, models.size = "others", 64
    from hermes_memory_mem0 import engine

    def dies(*_, **__):
        raise OSError("killed here")

    monkeypatch.setattr(engine, "replace", dies)
    with pytest.raises(ToolError, match="killed here"):
        await memory.search(ME, "printer", 9)
    monkeypatch.undo()
    assert await texts(memory) == ["The printer stands in the attic."]
    assert await texts(memory, "printer") == ["The printer stands in the attic."]


async def test_without_a_model_for_vectors_it_says_so_and_gives_out_and_erases_all_the_same(memory, models):
    memo = await memory.add(ME, "The car is red.", SAID)
    await memory.add(ME, "The door is green.", SAID)
    models.broken = True
    with pytest.raises(ToolError, match="models that do not answer"):
        await memory.add(ME, "One more.", SAID)
    assert len(await memory.export(ME)) == 2
    await memory.forget(ME, memo.id)
    assert await memory.erase(ME) == 1


async def test_a_damaged_folder_is_said_and_can_be_erased(memory):
    await memory.add(ME, "The car is red.", SAID)
    [told] = memory._ctx.paths.data.rglob("vectors.json")
    told.write_text("{")
    with pytest.raises(ToolError, match="cannot be read"):
        await memory.export(ME)
    await memory.erase(ME)
    assert not await memory.export(ME)


def test_nothing_is_told_to_its_makers_and_the_environment_stays(monkeypatch, tmp_path):
    from hermes_memory_mem0.engine import _imported

    monkeypatch.delenv("MEM0_TELEMETRY", raising=False)
    _imported(tmp_path)
    from mem0.memory import setup, telemetry

    assert telemetry.MEM0_TELEMETRY is False
    assert "MEM0_TELEMETRY" not in os.environ
    assert not setup.mem0_dir.startswith(str(Path.home() / ".mem0"))


def _keep(path, numbers):
    class Fixed:
        model = "fixed"

        def vectors(self, texts):
            return [[1.0, 0.5, float(len(text))] for text in texts]

        def embedder(self):
            from mem0.embeddings.base import EmbeddingBase

            vectors = self.vectors

            class Embedder(EmbeddingBase):
                def embed(self, text, memory_action=None):
                    return vectors([text])[0]

            return Embedder()

        def llm(self):
            return None

    for number in numbers:
        Folder(path).add(Fixed(), f"Fact {number}.", {"by": "user", "session": "", "trusted": True})


@pytest.mark.long
@pytest.mark.timeout(300)
def test_several_processes_have_their_turns(tmp_path):
    path = tmp_path / "one"
    spawn = multiprocessing.get_context("spawn")
    others = [spawn.Process(target=_keep, args=(path, range(at, at + 4))) for at in (0, 4)]
    for one in others:
        one.start()
    for one in others:
        one.join(200)
    assert [one.exitcode for one in others] == [0, 0]
    assert {row["memory"] for row in Folder(path).everything()} == {f"Fact {number}." for number in range(8)}
    assert threading.active_count() < 20


async def test_its_commands_are_for_each_person(hermes):
    hermes.tmp_plugin(ScriptedProvider([]))
    hermes.tmp_plugin("hermes_memory_mem0")
    hermes.configure({"memory.provider": "mem0"})
    memory = hermes.runtime.memory.of()[1]
    memory._ctx = evolve(memory._ctx, llm=StandIn())
    await memory.add(hermes.runtime.owner, "The car is red.", SAID)
    await memory.add(BEN, "Sleeps late.", SAID)
    assert "The car is red." in await hermes.command("mem0 list")
    assert "Sleeps" in await hermes.command("mem0 export", "--person", "ben")
    await hermes.command("mem0 erase", "--yes")
    assert await hermes.command("mem0 export") == ""
    assert "Sleeps" in await hermes.command("mem0 export", "--person", "ben")
