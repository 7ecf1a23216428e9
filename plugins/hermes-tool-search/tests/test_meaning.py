"""Ranking by meaning: only where it is set, never in the way, each text made once, and gone with its person."""

import asyncio
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core.errors import ProviderError
from hermes_core.kinds import tool
from hermes_core.testing import Call, ScriptedProvider
from hermes_core.testing.bench import Bench
from hermes_core.types import Feature, MediaResponse, Returned, Text, Usage
from hermes_tool_search.vectors import packed, unpacked

ALIKE = {"feline": "cat", "kitten": "cat", "canine": "dog", "puppy": "dog"}


class Thinker(ScriptedProvider):
    """Knows which words are alike; ``asked`` are the texts that it was asked for, in order."""

    features = frozenset({Feature.EMBED})

    def __init__(self, *steps, model="m1"):
        super().__init__(steps)
        self.asked, self.model, self.broken, self.slow = [], model, False, False

    async def embed(self, request):
        if self.broken:
            raise ProviderError("Nobody thinks.", provider="thinker", reason="server")
        if self.slow:
            await asyncio.sleep(60)
        self.asked += request.texts
        vectors = [[float(one in {ALIKE.get(w, w) for w in text.split()}) for one in ("cat", "dog")] + [0.1]
                   for text in (text.lower().replace(":", "").replace(".", "") for text in request.texts)]  # fmt: skip
        return MediaResponse(model=self.model, vectors=vectors, usage=Usage(calls=1))


def animals(kitten="Look after a kitten."):
    async def one() -> str:
        return "done"

    found = []
    for name, text in {"tend": kitten, "walk": "Go out with a puppy.", "mow": "Cut the lawn."}.items():
        one.__doc__ = text
        found.append(tool(name=name, toolset="home")(one))
    return found


SEARCH = Call("tool_search", {"query": "feline", "limit": 1})


def making():
    return [task for task in asyncio.all_tasks() if task.get_name() == "vectors"]


class House:
    def __init__(self, bench, thinker, tools=None, **more):
        self.bench, self.thinker = bench, thinker
        bench.tmp_plugin(thinker)
        bench.tmp_plugin(*(tools or animals()), name="home")
        bench.tmp_plugin("hermes_tool_search")
        bench.configure({"policy.mode": "off", "agent.tool_search": "on", "agent.tool_search_meaning": True, **more})
        bench._options["strict"] = False

    async def finds(self, session="s"):
        results = [e.result async for e in self.bench.turn("go", session=session) if isinstance(e, Returned)]
        return ["".join(p.text for p in one.parts if isinstance(p, Text)).partition(":")[0] for one in results]

    async def made(self):
        await asyncio.gather(*making())


async def test_what_no_word_says_is_found_once_vectors_are_made(hermes):
    house = House(hermes, Thinker(SEARCH, "one", SEARCH, "two"))
    assert await house.finds() == ["No tool fits. Try other words."]
    await house.made()
    assert len(house.thinker.asked) == 4, "the query and three tools"
    assert await house.finds() == ["tend"]
    assert house.thinker.asked[4:] == ["feline"], "what tools say is made once"


async def test_where_it_is_not_set_nothing_is_embedded(hermes):
    house = House(hermes, Thinker(SEARCH, "one"), **{"agent.tool_search_meaning": False})
    await house.finds()
    assert house.thinker.asked == []


async def test_where_people_are_to_be_hidden_from_hosted_models_none_is_asked(hermes):
    hermes.tmp_plugin("hermes_provider_router")
    house = House(hermes, Thinker(SEARCH, "one"), **{"privacy.redact_pii": True})
    house.thinker.priority = 10  # a service elsewhere
    assert await house.finds() == ["No tool fits. Try other words."]
    assert house.thinker.asked == []


@pytest.mark.parametrize("trouble", ["broken", "slow"])
async def test_words_count_where_the_model_does_not_answer(hermes, monkeypatch, trouble):
    monkeypatch.setattr("hermes_tool_search.meaning._PATIENCE", 0.05)
    puppy = Call("tool_search", {"query": "puppy", "limit": 1})
    house = House(hermes, Thinker(puppy, "one", puppy, "two"))
    setattr(house.thinker, trouble, True)
    assert await house.finds() == ["walk"]
    setattr(house.thinker, trouble, False)
    assert await house.finds() == ["walk"]
    assert house.thinker.asked == [], "it is left alone for a while"


async def test_they_are_there_in_the_next_process_and_only_what_changed_is_made_again(hermes, tmp_path):
    house = House(hermes, Thinker(SEARCH, "one"))
    await house.finds()
    await house.made()
    await hermes.close()
    again = House(Bench(tmp_path / "home"), Thinker(SEARCH, "two", SEARCH, "three"), animals("Comb a kitten."))
    assert await again.finds("t") == ["No tool fits. Try other words."]
    await again.made()
    assert again.thinker.asked[1:] == ["tend: Comb a kitten."]
    assert await again.finds("t") == ["tend"]
    await again.bench.close()


async def test_vectors_of_another_model_do_not_count(hermes):
    house = House(hermes, Thinker(SEARCH, "one", SEARCH, "two"))
    await house.finds()
    await house.made()
    house.thinker.model, before = "m2", len(house.thinker.asked)
    await house.finds()
    await house.made()
    assert len(house.thinker.asked) == before + 4


async def test_each_person_and_each_model_has_its_own(hermes):
    from hermes_tool_search.vectors import known, put

    await House(hermes, Thinker("one")).finds()
    ctx = hermes.context("hermes_tool_search")
    await put(ctx.store, "anna", "m", {"h": packed([1.0, 0.0])})
    await put(ctx.store, "ben", "m", {"h": packed([0.0, 1.0])})
    await put(ctx.store, "ben", "m", {"h": packed([1.0, 1.0])})  # by two at once
    assert [*await known(ctx.store, "anna", "m", ["h", "other"])] == ["h"]
    assert [round(one, 2) for one in unpacked((await known(ctx.store, "ben", "m", ["h"]))["h"])] == [0.71, 0.71]
    assert not await known(ctx.store, "anna", "m2", ["h"])


async def test_they_go_with_their_person(hermes):
    from hermes_tool_search.vectors import known, put
    from hermes_tool_upkeep.erase import erase_person

    hermes.tmp_plugin("hermes_tool_upkeep")
    await House(hermes, Thinker("one")).finds()
    ctx = hermes.context("hermes_tool_search")
    for person in ("anna", "ben"):
        await put(ctx.store, person, "m", {"h": packed([1.0, 0.0])})
    await erase_person(hermes.context("hermes_tool_upkeep"), "anna")
    assert not await known(ctx.store, "anna", "m", ["h"])
    assert await known(ctx.store, "ben", "m", ["h"])


async def test_there_are_only_so_many(hermes, monkeypatch):
    from hermes_tool_search.vectors import known, put

    monkeypatch.setattr("hermes_tool_search.vectors.MOST", 3)
    await House(hermes, Thinker("one")).finds()
    ctx = hermes.context("hermes_tool_search")
    for n in range(6):
        await put(ctx.store, "anna", "m", {f"h{n}": packed([1.0])})
        await asyncio.sleep(0.01)
    assert sorted(await known(ctx.store, "anna", "m", [f"h{n}" for n in range(6)])) == ["h3", "h4", "h5"]


async def test_the_end_of_a_session_ends_what_is_made_for_it(hermes):
    house = House(hermes, Thinker(SEARCH, "one"))
    embed = house.thinker.embed

    async def stuck(request):
        return await (embed(request) if len(request.texts) == 1 else asyncio.sleep(60))

    house.thinker.embed = stuck
    await house.finds()
    assert making()
    await hermes.close()
    assert not making()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), max_size=20))
def test_whatever_a_model_gives_a_vector_has_length_one_or_is_none(vector):
    kept = unpacked(packed(vector))
    assert not kept or math.isclose(math.sqrt(sum(one * one for one in kept)), 1.0, abs_tol=0.02)
