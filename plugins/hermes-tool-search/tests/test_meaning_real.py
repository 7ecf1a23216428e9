"""A real model for vectors, behind the protocol of OpenAI: what was held out is found by what it means.

The model is WordLlama, whose weights are in its wheel: an average of vectors of words, small, and no network.
"""

import asyncio
import sys
from pathlib import Path

import pytest

from hermes_core.kinds import ToolContext, tool
from hermes_core.testing import Call, ScriptedProvider
from hermes_core.types import Offer, Returned, Text
from hermes_tool_kit.testing import LoopbackService
from hermes_tool_search.tools import make_search

sys.path.insert(0, str(Path(__file__).parent))  # for tool_corpus; pytest does not do it in this import mode

from tool_corpus import asked, tools

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]


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


async def test_what_was_held_out_is_among_the_first_five(hermes, embeddings):
    specs, sets = tools()
    offer, found = Offer(tools=(), behind=tuple(specs), toolsets=sets), dict[str, list[str]]()

    @tool
    async def every(context: ToolContext) -> str:
        """Search for all that is asked for."""
        one = make_search(ctx())
        context.offer = lambda: offer
        for words, _ in asked(held_out=True):
            said = str(await one.run(context, one.params(query=words, limit=5)))
            found[words] = [line.partition(":")[0] for line in said.splitlines()]
        return "done"

    def ctx():
        given = hermes.runtime.dispatch._hooks["contribute", "register_tools"]
        return next(one.context for one in given if one.label == "tool/search")

    hermes.tmp_plugin(ScriptedProvider([Call("every"), "one", Call("every"), "two"]))
    hermes.tmp_plugin("hermes_provider_openai")
    hermes.tmp_plugin("hermes_tool_search")
    hermes.tmp_plugin(every, name="every")
    hermes.configure(
        {
            "policy.mode": "off",
            "agent.tool_search_meaning": True,
            "providers.custom.base_url": f"{embeddings.url}/v1",
            "auxiliary.embed": {"provider": "custom", "model": "l2_supercat_256"},
        }
    )
    shares = []
    for _ in range(2):
        results = [e.result async for e in hermes.turn("go", session="s") if isinstance(e, Returned)]
        assert [part.text for one in results for part in one.parts if isinstance(part, Text)] == ["done"]
        shares.append(sum(name in found[words] for words, name in asked(held_out=True)) / len(found))
        await asyncio.gather(*[task for task in asyncio.all_tasks() if task.get_name() == "vectors"])
    assert shares[0] <= shares[1], "the first time words alone count, while vectors are made"
    assert shares[1] >= 0.92
    texts = sum(len(one.json["input"]) for one in embeddings.asked)
    assert texts == 2 * len(found) + len(specs), "what tools say was embedded once"
