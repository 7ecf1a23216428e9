"""What means the same is found without its words, what changed newest first; each person's own, and nothing else."""

import asyncio
import random
from pathlib import Path

import pytest

from hermes_core.errors import ProviderError, ToolError
from hermes_core.testing import Call, ScriptedProvider
from hermes_core.types import Feature, MediaResponse, Message, Principal, Returned, Session, Source, Text, Usage
from hermes_memory_vector import meaning
from hermes_memory_vector.memory import VectorMemory

SAID = Source(by="user", session_id="old")
BEN = Principal(person="ben")
ALIKE = {"feline": "cat", "kitten": "cat", "canine": "dog", "puppy": "dog"}


class Thinker(ScriptedProvider):
    """Knows which words are alike; ``asked`` are the texts that it was asked for, in order."""

    features = frozenset({Feature.EMBED})

    def __init__(self, *steps, model="m1"):
        super().__init__(steps)
        self.asked, self.calls, self.model, self.broken, self.slow = [], 0, model, False, False

    async def embed(self, request):
        self.calls += 1
        if self.broken:
            raise ProviderError("Nobody thinks.")
        if self.slow:
            await asyncio.sleep(60)
        self.asked += request.texts
        vectors = [[float(one in {ALIKE.get(w, w) for w in text.split()}) for one in ("cat", "dog")] + [0.1]
                   for text in (text.lower().replace(".", "").replace("?", "") for text in request.texts)]  # fmt: skip
        return MediaResponse(model=self.model, vectors=vectors, usage=Usage(calls=1))


class House:
    def __init__(self, hermes, thinker, **more):
        self.bench, self.thinker = hermes, thinker
        hermes.tmp_plugin(thinker)
        hermes.tmp_plugin("hermes_memory_vector")
        hermes.configure({"memory.provider": "vector", "policy.mode": "off", "agent.model_tries": 1, **more})
        hermes._options["strict"] = False
        self.memory: VectorMemory = hermes.runtime.memory.of()[1]
        self.me = hermes.runtime.owner

    async def knows(self, *texts):
        for text in texts:
            await self.memory.add(self.me, text, SAID)

    async def finds(self, query, limit=5):
        return [memo.text for memo in await self.memory.search(self.me, query, limit)]

    async def ask(self, text, session="s"):
        """What the model was given as the last message."""
        results = [e.result async for e in self.bench.turn(text, session=session) if isinstance(e, Returned)]
        if self.bench.runtime.memory._looks:
            await asyncio.wait(set(self.bench.runtime.memory._looks))
        return results

    def told(self):
        return "".join(p.text for p in self.thinker.requests[-1].messages[-1].parts if isinstance(p, Text))


async def test_what_means_the_same_is_found_and_each_text_is_asked_for_once(hermes):
    house = House(hermes, Thinker())
    await house.knows("Miso is a kitten.", "Rex is a puppy.", "The lawn is green.")
    assert await house.finds("feline") == ["Miso is a kitten."]
    assert (house.thinker.calls, len(house.thinker.asked)) == (1, 4), "the question and three memos, in one request"
    assert await house.finds("canine") == ["Rex is a puppy."]
    assert (house.thinker.calls, len(house.thinker.asked)) == (2, 5)


async def test_where_no_model_answers_words_find_and_vectors_are_made_later(hermes, monkeypatch):
    house = House(hermes, Thinker())
    house.thinker.broken = True
    await house.knows("Miso is a kitten.")
    assert await house.finds("feline") == []
    assert await house.finds("kittens") == ["Miso is a kitten."]
    assert house.thinker.calls == 1, "after a failure it is left alone"
    house.thinker.broken, house.memory.meaning._rest_until = False, 0.0
    assert await house.finds("feline") == ["Miso is a kitten."]


async def test_a_slow_model_is_not_waited_for(hermes, monkeypatch):
    monkeypatch.setattr(meaning, "_PATIENCE", 0.05)
    house = House(hermes, Thinker())
    house.thinker.slow = True
    await house.knows("Miso is a kitten.")
    assert await house.finds("kitten") == ["Miso is a kitten."]


async def test_another_model_makes_all_anew(hermes):
    house = House(hermes, Thinker())
    await house.knows("Miso is a kitten.", "Rex is a puppy.")
    await house.finds("feline")
    house.thinker.model = "m2"
    assert await house.finds("canine") == ["Rex is a puppy."]
    rows = await house.memory._rows.all(house.me)
    assert {row.model for row in rows} == {"m2"}


async def test_another_model_makes_all_anew_a_part_at_a_time(hermes, monkeypatch):
    monkeypatch.setattr(meaning, "_AT_ONCE", 3)
    house = House(hermes, Thinker())
    await house.knows("Miso is a kitten.", *(f"Number {number} is green." for number in range(5)))
    await house.memory.meaning.fill(house.me)
    house.thinker.model = "m2"
    left = []
    for _ in range(3):
        await house.finds("feline")
        left.append(sum(row.model == "m1" for row in await house.memory._rows.all(house.me)))
    assert left == [4, 2, 0], "each search makes some anew, to the last"
    assert await house.finds("feline") == ["Miso is a kitten."]


async def test_what_is_near_to_a_message_is_told_with_it_and_the_prefix_stays(hermes):
    house = House(hermes, Thinker("one", "two", "three"))
    await house.knows("Miso is a kitten.", "The lawn is green.")
    await house.memory.add(BEN, "Ben has a kitten too.", SAID)
    await house.ask("Tell me of my feline.")
    assert "- Miso is a kitten." in house.told()
    assert "Ben" not in house.told()
    assert "lawn" not in house.told()
    before = house.thinker.requests[-1].messages
    await house.ask("And my canine friends.")
    assert house.thinker.requests[-1].messages[: len(before)] == before


async def test_what_was_said_here_is_not_told_again(hermes):
    house = House(hermes, Thinker("one", "two"))
    await house.ask("My kitten is called Miso.")
    await house.ask("My feline sleeps a lot.")
    assert "<memory>" not in house.told()


class Masked:
    """Masks one secret."""

    def text(self, text):
        return text.replace("4711-4711", "***")


async def test_what_a_person_states_is_kept_and_no_question_and_no_secret(hermes):
    house = House(hermes, Thinker("one", "two", "three"))
    house.memory._masks = Masked()
    for text in ("I moved to Oslo in May.", "Where do I live now?", "My key is 4711-4711, keep it."):
        await house.ask(text)
    assert [memo.text for memo in await house.memory.export(house.me)] == ["I moved to Oslo in May."]


async def test_what_is_forgotten_does_not_come_back_while_its_conversation_goes_on(hermes):
    house = House(hermes, Thinker("one", "two"))
    await house.ask("I moved to Oslo in May.")
    [memo] = await house.memory.export(house.me)
    await house.memory.forget(house.me, memo.id)
    await house.ask("I also began to cook.")
    assert [one.text for one in await house.memory.export(house.me)] == ["I also began to cook."]


async def test_nothing_is_learned_where_it_is_off(hermes):
    house = House(hermes, Thinker("one"), **{"memories.vector.learn": False})
    await house.ask("I moved to Oslo in May.")
    assert not await house.memory.export(house.me)


async def test_the_tools_keep_find_and_forget(hermes):
    house = House(
        hermes,
        Thinker(
            Call("vector_memory", {"text": "Miso is a kitten."}), Call("vector_search", {"query": "feline"}), "one"
        ),
        **{"memories.vector.learn": False},
    )
    kept, found = await house.ask("go")
    [memo] = await house.memory.export(house.me)
    assert memo.source.by == "model"
    assert memo.source.session_id == "s"
    assert memo.id in kept.parts[0].text
    assert found.parts[0].text == f"{memo.id}: Miso is a kitten."


async def test_a_fact_that_changed_comes_first_and_what_it_was_stands_behind(hermes):
    house = House(hermes, Thinker())
    await house.knows("The server is called alpha.", "The server is called beta.", "The printer is called gamma.")
    found = await house.finds("what is the server called")
    servers = ["The server is called beta.", "The server is called alpha."]
    assert found == [*servers, "The printer is called gamma."]
    await house.knows("The server is called alpha.")  # said again, it is the newest
    assert (await house.finds("what is the server called"))[0] == "The server is called alpha."


async def test_what_another_process_keeps_forgets_or_makes_is_seen(hermes):
    house, other = House(hermes, Thinker()), VectorMemory(hermes.context("hermes_memory_vector"))
    await house.knows("Miso is a kitten.")
    assert await house.finds("kitten") == ["Miso is a kitten."]
    memo = await other.add(house.me, "Rex is a puppy.", SAID)
    assert await house.finds("puppy") == ["Rex is a puppy."]
    await other.meaning.fill(house.me)
    assert {row.model for row in await house.memory._rows.all(house.me)} == {"m1"}
    await other.forget(house.me, memo.id)
    assert await house.finds("puppy") == []
    await other.add(house.me, "Miso is a kitten.", SAID)  # said again
    await other.add(house.me, "Tom is a kitten.", SAID)
    assert await house.finds("kitten") == ["Tom is a kitten.", "Miso is a kitten."]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("many", [40, pytest.param(1_000, marks=pytest.mark.long)])
async def test_of_facts_that_changed_the_newest_is_first(hermes, many):
    house, rng = House(hermes, Thinker()), random.Random(18)
    house.thinker.broken = True  # by words alone: the harder case
    names = [f"{first}{number}" for number in range(many) for first in ("Device",)]
    places = ["cellar", "attic", "kitchen", "garage", "garden", "office", "hall", "shed"]
    now = {}
    for name in names:
        before, now[name] = rng.sample(places, 2)
        await house.knows(f"{name} stands in the {before}.", f"{name} stands in the {now[name]}.")
    asked = rng.sample(names, min(many, 200))
    right = 0
    for name in asked:
        found = await house.finds(f"where does {name} stand?", 2)
        right += found[0] == f"{name} stands in the {now[name]}."
        assert len(found) == 2, "what it was can still be asked for"
    assert right / len(asked) >= 0.99


async def test_what_is_forgotten_leaves_no_byte(hermes):
    hermes.tmp_plugin("hermes_tool_upkeep")
    house = House(hermes, Thinker())
    for number in range(1_000):
        await house.memory.add(house.me, f"canary{number:04d}x is a fact.", SAID)
    await house.memory.meaning.fill(house.me)
    for memo in await house.memory.export(house.me):
        await house.memory.forget(house.me, memo.id)
    assert not await house.memory._rows.all(house.me)
    await hermes.command("store compact")
    await hermes.close()
    left = [p for p in Path(hermes.runtime.home.root).rglob("*") if p.is_file() and b"canary" in p.read_bytes()]
    assert not left


async def test_the_oldest_go_where_there_are_too_many(hermes):
    house = House(hermes, Thinker(), **{"memories.vector.most": 100})
    for number in range(110):
        await house.memory.add(house.me, f"Fact {number} of many.", SAID)
    kept = [memo.text for memo in await house.memory.export(house.me)]
    assert len(kept) == 100
    assert "Fact 109 of many." in kept
    assert "Fact 0 of many." not in kept


async def test_what_is_empty_or_too_long_is_refused(hermes):
    house = House(hermes, Thinker())
    for text in (" \n", "x" * 4_001):
        with pytest.raises(ToolError):
            await house.memory.add(house.me, text, SAID)


async def test_commands_are_for_each_person(hermes):
    house = House(hermes, Thinker())
    await house.knows("Miso is a kitten.")
    await house.memory.add(BEN, "Sleeps late.", SAID)
    assert "kitten" in await hermes.command("vector list", "feline")
    assert "Sleeps" not in await hermes.command("vector export")
    await hermes.command("vector erase", "--yes")
    assert await hermes.command("vector export") == ""
    [memo] = await house.memory.export(BEN)
    await hermes.command("vector forget", memo.id[:6], "--person", "ben")
    assert not await house.memory.export(BEN)


async def test_a_message_from_outside_asks_for_nothing(hermes):
    house = House(hermes, Thinker())
    await house.knows("Miso is a kitten.")
    session = Session(id="t", origin="cli", owner=house.me)
    forwarded = Message(role="user", parts=(Text(text="kitten"),), untrusted=True)
    assert not await house.memory.prefetch(session, forwarded)


async def test_doctor_says_whether_meaning_is_found(hermes):
    house = House(hermes, Thinker())
    checks = [one for _, one in hermes.runtime.dispatch.contributions("register_checks") if "meaning" in one.name]
    if not checks:
        hermes.runtime.loader.load_contributing("memories", ["vector"])
        checks = [one for _, one in hermes.runtime.dispatch.contributions("register_checks") if "meaning" in one.name]
    [finding] = await checks[0].run()
    assert finding.level == "ok"
    house.thinker.broken = True
    [finding] = await checks[0].run()
    assert finding.level == "warning"
