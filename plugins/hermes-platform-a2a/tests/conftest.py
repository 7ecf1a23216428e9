"""A kernel behind a real API on a real port, and the SDK's own client in front of it."""

import contextlib

import httpx
import pytest
from a2a.client import ClientConfig, ClientFactory
from a2a.client.card_resolver import A2ACardResolver
from a2a.types import Message, Part, Role, SendMessageRequest

from hermes_core.kinds import Console

MODULE = "hermes_platform_a2a"
KEY, ALICE = "owners-key-0123456789", "alices-key-0123456789"
PATH = "/platform/a2a"


class Home:
    """What is in the bench, served."""

    def __init__(self, bench):
        self.bench = bench

    @property
    def ctx(self):
        return self.bench.context(MODULE)

    @contextlib.asynccontextmanager
    async def served(self):
        runtime = self.bench.runtime
        runtime.loader.load_contributing("platforms", ["api"])
        [api] = [one for _, one in runtime.dispatch.contributions("register_platforms") if one.name == "api"]
        await api.open(Console())
        self.url = api.address
        try:
            yield self
        finally:
            await api.close()

    def http(self, key=KEY, **headers):
        """A plain client."""
        known = {"authorization": f"Bearer {key}"} if key else {}
        return httpx.AsyncClient(base_url=self.url, headers={**known, **headers}, timeout=20)

    @contextlib.asynccontextmanager
    async def client(self, key=KEY, binding="JSONRPC", streaming=False, polling=False):
        """The SDK's client, which found the agent by its public card."""
        async with self.http(key) as http:
            card = await A2ACardResolver(http, f"{self.url}{PATH}/card").get_agent_card()
            config = ClientConfig(
                httpx_client=http, supported_protocol_bindings=[binding], streaming=streaming, polling=polling
            )
            yield ClientFactory(config).create(card)


def said(text, name="m1", **more):
    """A message of a client."""
    parts = more.pop("parts", None) or [Part(text=text)]
    return SendMessageRequest(message=Message(message_id=name, role=Role.ROLE_USER, parts=parts, **more))


async def sent(client, request):
    """What a client is answered with, the last of it."""
    last = None
    async for event in client.send_message(request):
        last = event
    return last.task


def answer_of(task):
    """The words of a task's answer."""
    return "".join(part.text for one in task.artifacts if one.artifact_id == "answer" for part in one.parts)


@pytest.fixture
async def home(hermes, monkeypatch):
    """``async with home(model, {"platforms.a2a.approvals": True}, "hermes_tool_clarify") as home``."""
    monkeypatch.setenv("API_SERVER_KEY", KEY)
    monkeypatch.setenv("API_SERVER_KEY_ALICE", ALICE)

    def start(model, settings=None, *more):
        hermes.tmp_plugin(model)
        for plugin in (MODULE, "hermes_platform_api", "hermes_tool_roles", *more):
            hermes.tmp_plugin(plugin)
        people = {"platforms.api.port": 0, "platforms.api.keys": {"API_SERVER_KEY_ALICE": "alice"}}
        hermes.configure({**people, **(settings or {})})
        return Home(hermes).served()

    return start
