"""mem0 with a real model for vectors, behind the protocol of OpenAI, and a kernel that asks it.

The model is WordLlama, whose weights are in its wheel: an average of vectors of words, small, and no network. Facts are
taken out by a service that answers as a model would: it says of each sentence of the person's that it is a fact.
"""

import asyncio
import json
import re
from pathlib import Path

import pytest

from hermes_tool_kit.testing import LoopbackService

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def service():
    """A service that answers at ``/v1/embeddings`` and ``/v1/chat/completions``."""
    import wordllama

    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)

    def answer(one):
        wanted = one.json
        if one.path == "/v1/embeddings":
            vectors = model.embed(wanted["input"], norm=True).tolist()
            rows = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            return 200, {"object": "list", "data": rows, "model": wanted["model"], "usage": usage}
        said = json.dumps(wanted["messages"])
        facts = [
            f"The person said: {text}" for text in re.findall(r"I [a-z]+ [^.\\]+\.", said.split("New Messages")[-1])
        ]
        text = json.dumps({"memory": [{"id": str(n), "text": fact} for n, fact in enumerate(facts)]})
        text = text if "New Messages" in said else "Good."
        if wanted.get("stream"):
            first = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": wanted["model"]}
            piece = {**first, "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]}
            last = {**first, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
            body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in (piece, last)) + "data: [DONE]\n\n"
            return 200, "text/event-stream", body.encode()
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return 200, {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}

    made = LoopbackService(answer)
    yield made
    made.close()


async def test_what_is_said_in_one_conversation_is_told_in_another(hermes, service):
    hermes.tmp_plugin("hermes_provider_openai")
    hermes.tmp_plugin("hermes_memory_mem0")
    hermes.configure(
        {
            "memory.provider": "mem0",
            "memories.mem0.near": 0.2,
            "model.provider": "custom",
            "model.default": "some-model",
            "providers.custom.base_url": f"{service.url}/v1",
            "auxiliary.embed": {"provider": "custom", "model": "l2_supercat_256"},
            "auxiliary.memory": {"provider": "custom", "model": "some-model"},
        }
    )

    async def ask(text, session):
        async for _ in hermes.turn(text, session=session):
            pass
        if looks := set(hermes.runtime.memory._looks):
            await asyncio.wait(looks)

    await ask("I adopted a beagle last spring. I drive a red Toyota.", "one")
    memory, me = hermes.runtime.memory.of()[1], hermes.runtime.owner
    kept = {memo.text for memo in await memory.export(me)}
    assert kept == {
        "The person said: I adopted a beagle last spring.",
        "The person said: I drive a red Toyota.",
    }
    await ask("What kind of dog do we own as a pet?", "two")
    asked = [one.json for one in service.asked if one.path.endswith("completions")]
    [told] = [one for one in asked if one.get("stream") and "What kind of dog" in json.dumps(one["messages"][-1])][:1]
    assert "adopted a beagle" in json.dumps(told["messages"][-1])
