"""A service that is logged in to and answers, on this machine, and the plugin beside it."""

import json

import pytest

from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_core.testing.model_service import http, model_service
from hermes_core.testing.protocol_replies import Said, SaidCall, events_of, stream_of
from hermes_core.types import Endpoint, Message, Request, Text, TextDelta
from hermes_login.kept import Kept
from hermes_login.testing import AuthServer
from hermes_login.tokens import Tokens
from hermes_provider_subscriptions.accounts import SERVICES, login_of, service_of
from hermes_provider_subscriptions.config import Config, ServiceSettings
from hermes_provider_subscriptions.provider import Subscription

COPILOT = {
    "data": [
        {"id": "text-embedding-3", "capabilities": {"type": "embeddings"}},
        {"id": "gpt-5-codex", "capabilities": {"type": "chat"}, "supported_endpoints": ["/responses"]},
        {
            "id": "o4",
            "capabilities": {"type": "chat", "limits": {"max_output_tokens": 9}, "supports": {"vision": True}},
        },
        {"id": "gpt-4.1", "capabilities": {"type": "chat", "limits": {"max_context_window_tokens": 128000}}},
        "odd",
        {"id": 7},
    ]
}
CODEX = {
    "models": [
        {"slug": "gpt-5.4", "context_window": 272000, "input_modalities": ["text", "image"]},
        {"slug": "gpt-5.5"},
    ]
}


@pytest.fixture
async def server():
    """An authorization server whose services answer with models, too, to tokens that are good."""
    async with model_service("") as service:
        made = AuthServer(service, service.url)
        made.install()
        made.client_id, made.scope = "hermes-test", "read:user"
        calls = Said(calls=(SaidCall("add", '{"a": 2, "b": 3}'),))

        def answering(protocol):
            async def answer(writer):
                asked = made.service.asked[-1]
                if refusal := unauthorized(asked):
                    writer.write(refusal)
                else:
                    wants = asked.body.get("tools") and not any(
                        one.get("role") == "tool" or one.get("type") == "function_call_output"
                        for one in asked.body.get("messages", asked.body.get("input"))
                    )
                    said = calls if wants else Said(pieces=("Hel", "lo."))
                    writer.write(http(200, stream_of(protocol, events_of(protocol, said)), "text/event-stream"))
                await writer.drain()

            return answer

        def listing(models):
            async def answer(writer):
                writer.write(unauthorized(made.service.asked[-1]) or http(200, json.dumps(models)))
                await writer.drain()

            return answer

        def unauthorized(asked):
            kind, _, token = asked.headers.get("authorization", "").partition(" ")
            if kind == "Bearer" and made.is_good(token):
                return b""
            return http(401, json.dumps({"error": {"message": "token expired", "code": "unauthorized"}}))

        made.service.by_path |= {
            "/chat/completions": answering("chat"),
            "/codex/responses": answering("responses"),
            "/models": listing(COPILOT),
            "/codex/models": listing(CODEX),
        }
        yield made


@pytest.fixture
def ctx(server, tmp_path):
    """The plugin's context: its services are at the server."""
    url = server.url
    common = {"client_id": "hermes-test", "token_url": f"{url}/token", "hosts": ["127.0.0.1"]}
    copilot = ServiceSettings(**common, device_url=f"{url}/device", exchange_url=f"{url}/exchange", base_url=url)
    codex = ServiceSettings(**common, authorize_url=f"{url}/authorize", base_url=f"{url}/codex")
    rest = {
        name: ServiceSettings(**common, device_url=f"{url}/device", authorize_url=f"{url}/authorize", base_url=url)
        for name in SERVICES
    }
    config = Config(services={**rest, "copilot": copilot, "codex": codex})
    return plugin_context(read_manifest(manifest_path("hermes_provider_subscriptions")), tmp_path, config=config)


@pytest.fixture
async def enter(server, ctx):
    """``await enter("codex", "work")``: somebody is logged in with that account; the tokens."""

    async def run(name, account="default"):
        access, refresh = server.minted()
        tokens = Tokens(
            access=access, refresh=refresh, headers={"chatgpt-account-id": "acc-1"} if name == "codex" else {}
        )
        service = service_of(ctx, name)
        await login_of(ctx, service, account).keep(Kept(token_url=service.token_url, tokens=tokens))
        return tokens

    return run


@pytest.fixture
async def opened(ctx):
    """``opened("codex")``: one of its providers."""
    made = []

    def make(name, **endpoint):
        one = Subscription(ctx, name)
        made.append(one.at(Endpoint(name=name, **endpoint)) if endpoint else one)
        return made[-1]

    yield make
    for one in made:
        await one.close()


@pytest.fixture
def say():
    """``await say(provider)``: what it answers."""

    async def run(provider, *parts):
        prompt = Message(role="system", parts=(Text(text="Be brief."),))
        said = Message(role="user", parts=parts or (Text(text="Hello."),))
        deltas = [one async for one in provider.stream(Request(model="", messages=(prompt, said)))]
        return "".join(one.text for one in deltas if isinstance(one, TextDelta))

    return run
