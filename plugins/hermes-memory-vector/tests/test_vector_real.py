"""A real model for vectors, behind the protocol of OpenAI: what was said is found in other words.

The model is WordLlama, whose weights are in its wheel: an average of vectors of words, small, and no network.
"""

from pathlib import Path

import pytest

from hermes_core.testing import ScriptedProvider
from hermes_core.types import Source
from hermes_tool_kit.testing import LoopbackService

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

FACTS = {
    "My daughter plays the violin in the school orchestra.": "which musical instrument does my child practise",
    "I am allergic to peanuts.": "what food must I avoid for medical reasons",
    "We adopted a beagle last spring.": "do we own a dog or another pet",
    "My car is a red Toyota.": "what vehicle do I drive",
    "I work as a nurse in a hospital.": "what is my job, my profession",
    "Our flat is on the fourth floor.": "how high up is our apartment in the building",
    "I go jogging every morning before breakfast.": "what sport do I do to keep fit, running",
    "My brother lives in Oslo.": "in which Norwegian town is my sibling",
    "I drink my coffee without sugar.": "do I take sweetener in my espresso",
    "The wedding is on the third of June.": "when do we get married, the ceremony",
}


@pytest.fixture(scope="module")
def embeddings():
    """A service that answers at ``/v1/embeddings``."""
    import wordllama

    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)

    def answer(one):
        wanted = one.json
        vectors = model.embed(wanted["input"], norm=True).tolist()
        rows = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        whole = {"object": "list", "data": rows, "model": wanted["model"], "usage": usage}
        return (200 if one.path == "/v1/embeddings" else 404), whole

    service = LoopbackService(answer)
    yield service
    service.close()


async def test_what_was_said_is_found_in_other_words(hermes, embeddings):
    hermes.tmp_plugin(ScriptedProvider(["one"]))
    hermes.tmp_plugin("hermes_provider_openai")
    hermes.tmp_plugin("hermes_memory_vector")
    hermes.configure(
        {
            "memory.provider": "vector",
            "memories.vector.near": 0.2,
            "providers.custom.base_url": f"{embeddings.url}/v1",
            "auxiliary.embed": {"provider": "custom", "model": "l2_supercat_256"},
        }
    )
    memory, me = hermes.runtime.memory.of()[1], hermes.runtime.owner
    for text in FACTS:
        await memory.add(me, text, Source(by="user"))
    first = 0
    for text, query in FACTS.items():
        found = [memo.text for memo in await memory.search(me, query, 3)]
        first += text in found
    rows = await memory._rows.all(me)
    assert {row.model for row in rows} == {"l2_supercat_256"}
    assert first >= 8, f"{first} of {len(FACTS)} are among the first three"
