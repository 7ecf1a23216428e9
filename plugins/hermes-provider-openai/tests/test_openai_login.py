"""A person agrees on a page of the service, and Hermes has a key of their account."""

import asyncio
import json
from base64 import urlsafe_b64encode
from hashlib import sha256
from urllib.parse import parse_qs, urlsplit

import pytest

from hermes_core.errors import UserError
from hermes_core.types import Endpoint
from hermes_provider_openai.setup import all_steps

KEY = "sk-or-v1-0123456789abcdef"


@pytest.fixture
def step(service, keys):
    said = {"openrouter": Endpoint(name="openrouter", base_url=service.url)}
    return next(one for one in all_steps(keys(), said) if one.name == "openrouter")


async def visit(address):
    """Open an address as a browser does; the status it gets."""
    parts = urlsplit(address)
    reader, writer = await asyncio.open_connection("127.0.0.1", parts.port)
    writer.write(f"GET {parts.path}?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
    status = (await reader.read()).split(b" ")[1]
    writer.close()
    return status


def agreed(prompt, code="good"):
    """Where the service's page sends a browser whose person agreed."""
    return f"{parse_qs(urlsplit(prompt.url).query)['callback_url'][0]}?code={code}"


@pytest.mark.parametrize("far", [False, True], ids=["browser here", "over SSH"])
async def test_a_person_agrees_and_there_is_a_key(service, reply, step, monkeypatch, far):
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("SSH_CONNECTION", "1.2.3.4 5 6.7.8.9 22" if far else "")
    service.by_path["/v1/auth/keys"] = reply.http(200, json.dumps({"key": KEY, "user_id": "u"}))
    shown, visits = [], []

    async def show(prompt):
        shown.append(prompt)
        if prompt.paste:
            return agreed(prompt)
        strange = agreed(prompt).replace("?code", "x?code")
        visits.extend([asyncio.create_task(visit(strange)), asyncio.create_task(visit(agreed(prompt)))])
        return ""

    assert await step.login(show) == {"key": KEY}
    assert await asyncio.gather(*visits) == ([] if far else [b"404", b"200"])
    [prompt] = shown
    asked = parse_qs(urlsplit(prompt.url).query)
    assert prompt.url.startswith("https://openrouter.ai/auth?")
    proof = service.asked[-1].body
    digest = urlsafe_b64encode(sha256(proof["code_verifier"].encode()).digest()).rstrip(b"=").decode()
    assert (proof["code"], proof["code_challenge_method"]) == ("good", "S256")
    assert asked["code_challenge"] == [digest]


@pytest.mark.parametrize(
    ("status", "body", "said"), [(403, '{"error": "Invalid code"}', "gave no key"), (200, "{}", "gave no key")]
)
async def test_a_code_that_is_refused_is_told(service, reply, step, monkeypatch, status, body, said):
    monkeypatch.setenv("SSH_CONNECTION", "1.2.3.4 5 6.7.8.9 22")
    service.by_path["/v1/auth/keys"] = reply.http(status, body)

    async def show(prompt):
        return "code"

    with pytest.raises(UserError, match=said):
        await step.login(show)


@pytest.mark.parametrize("pasted", ["", "http://localhost:1/x?error=denied", "two words"])
async def test_what_holds_no_code_is_told(step, monkeypatch, pasted):
    monkeypatch.setenv("SSH_CONNECTION", "1.2.3.4 5 6.7.8.9 22")

    async def show(prompt):
        return pasted

    with pytest.raises(UserError, match="no code"):
        await step.login(show)


async def test_nobody_agrees(step, monkeypatch):
    monkeypatch.setattr("hermes_provider_kit.login.SECONDS", 0.05)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)

    async def show(prompt):
        return ""

    with pytest.raises(UserError, match="Nobody agreed"):
        await step.login(show)
