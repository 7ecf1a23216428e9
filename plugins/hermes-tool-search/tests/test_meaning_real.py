"""A real model for vectors, behind the protocol of OpenAI: what was held out is found by what it means.

The model is WordLlama, whose weights are in its wheel: an average of vectors of words, small, and no network.
"""

import asyncio
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hermes_core.kinds import ToolContext, tool
from hermes_core.testing import Call, ScriptedProvider
from hermes_core.types import Offer, Returned, Text
from hermes_tool_search.tools import make_search

sys.path.insert(0, str(Path(__file__).parent))  # for tool_corpus; pytest does not do it in this import mode

from tool_corpus import asked, tools

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def embeddings():
    """An address that answers as ``/v1/embeddings`` does, and how many texts it was asked for."""
    import wordllama

    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    given: list[int] = []

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self):
            wanted = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            given.append(len(wanted["input"]))
            rows = [{"object": "embedding", "index": n, "embedding": [float(one) for one in vector]}
                    for n, vector in enumerate(model.embed(wanted["input"], norm=True))]  # fmt: skip
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            body = json.dumps({"object": "list", "data": rows, "model": wanted["model"], "usage": usage}).encode()
            self.send_response(200 if self.path == "/v1/embeddings" else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1", given
    server.shutdown()


async def test_what_was_held_out_is_among_the_first_five(hermes, embeddings):
    url, given = embeddings
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
            "providers.custom.base_url": url,
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
    assert sum(given) == 2 * len(found) + len(specs), "what tools say was embedded once"
