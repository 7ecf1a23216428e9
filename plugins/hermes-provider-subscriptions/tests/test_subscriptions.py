"""People log in, are answered, and their tokens are seen nowhere else."""

import asyncio
import json
import logging
import os

import pytest
from attrs import evolve
from click.testing import CliRunner

from hermes_core.errors import AuthError, RateLimited, UserError
from hermes_core.testing.model_service import http
from hermes_core.types import Blob, Feature, Text
from hermes_login.kept import Kept
from hermes_login.tokens import Tokens as Given
from hermes_provider_subscriptions.accounts import accounts_of, entry_of, logins_of, service_of
from hermes_provider_subscriptions.checks import checks
from hermes_provider_subscriptions.commands import commands
from hermes_provider_subscriptions.config import Config
from hermes_provider_subscriptions.entering import borrowed
from hermes_provider_subscriptions.masker import Tokens
from hermes_provider_subscriptions.places import place_of
from hermes_provider_subscriptions.provider import Subscription
from hermes_provider_subscriptions.setup import Step


async def test_copilot_answers_by_a_token_for_minutes(server, enter, opened, say):
    tokens = await enter("copilot")
    copilot = opened("copilot", headers={"x-team": "7"})
    assert await say(copilot) == await say(copilot) == "Hello."
    exchange, *asked = server.service.asked
    assert server.exchanged == 1
    assert exchange.headers["authorization"] == f"token {tokens.access}"
    for one in asked:
        assert one.headers["authorization"] == "Bearer short-00000001-zQ7"
        assert tokens.access not in str(one.headers) + one.raw.decode()
        assert one.headers["editor-version"].startswith("Hermes/")
        assert (one.headers["x-team"], one.body["model"]) == ("7", "gpt-4.1")
    await say(copilot, Text(text="What is it?"), Blob(media_type="image/png", data=b"\x89PNG", name="a.png"))
    assert server.service.asked[-1].headers["copilot-vision-request"] == "true"
    models = {one.name: one for one in await copilot.models()}
    assert list(models) == ["gpt-4.1", "o4"]
    assert models["gpt-4.1"].context == 128_000
    assert [Feature.IMAGES in one.features for one in models.values()] == [False, True]


async def test_chatgpt_answers_with_instructions_and_nothing_that_it_refuses(server, enter, opened, say):
    await enter("codex")
    codex = opened("codex")
    assert await say(codex) == "Hello."
    [asked] = server.service.asked
    assert asked.headers["chatgpt-account-id"] == "acc-1"
    assert asked.headers["originator"] == "hermes"
    body = asked.body
    assert (body["instructions"], body["store"], body["stream"]) == ("Be brief.", False, True)
    assert [one["role"] for one in body["input"]] == ["user"]
    assert not {"max_output_tokens", "temperature"} & body.keys()
    assert [one.name for one in await codex.models()] == ["gpt-5.5", "gpt-5.4"]


@pytest.mark.parametrize("name", ["copilot", "codex"])
async def test_a_token_that_is_refused_is_renewed_and_asked_with_once_more(server, enter, opened, say, name):
    await enter(name)
    subscription = opened(name)
    await say(subscription)
    before = logins_of(subscription._ctx).read(name, "default")
    server._good.discard((before.short or before.tokens).access)
    assert await say(subscription) == "Hello."
    assert (server.exchanged, server.refreshed) == ((2, 0) if name == "copilot" else (0, 1))
    server.service.by_path["/chat/completions" if name == "copilot" else "/codex/responses"] = http(401, "{}")
    asked = len(server.service.asked)
    with pytest.raises(AuthError) as caught:
        await say(subscription)
    assert f"hermes auth login {name}" in caught.value.hint
    assert len(server.service.asked) == asked + 3  # with the one there was, a renewal, with the new one: no more


async def test_another_account_stands_in(server, ctx, enter, opened, say):
    await enter("codex")
    work = await enter("codex", "work")
    answer = server.service.by_path["/codex/responses"]

    async def used_up(writer):
        if work.access not in server.service.asked[-1].headers["authorization"]:
            writer.write(http(429, json.dumps({"error": {"message": "used up"}})))
            return await writer.drain()
        return await answer(writer)

    server.service.by_path["/codex/responses"] = used_up
    assert await say(opened("codex")) == "Hello."
    await enter("codex", "third")
    ctx.config.accounts["codex"] = "third"
    assert accounts_of(ctx, "codex") == ["third", "default", "work"]
    server.service.by_path["/codex/responses"] = http(429, "{}")
    with pytest.raises(RateLimited):
        await say(opened("codex"))


async def test_a_name_in_the_settings_that_is_misspelt_is_told_and_nobody_else_answers(server, ctx, enter, opened, say):
    for wrong in ({"accounts": {"xai": "work"}}, {"services": {"hf": {}}}):
        with pytest.raises(ValueError, match="no service is called"):
            Config(**wrong)
    await enter("codex")
    ctx.config.accounts["codex"] = "wrok"
    with pytest.raises(UserError, match="names wrok, and nobody is logged in as that") as caught:
        await say(opened("codex"))
    assert "There is default" in caught.value.hint
    assert server.service.asked == []


async def test_what_a_service_said_of_an_account_is_known_to_the_next_process(server, enter, opened, say):
    tokens = {name: await enter("nous-oauth", name) for name in ("default", "work")}
    answer, waits = server.service.by_path["/chat/completions"], {"default": "90", "work": ""}

    def carried():
        return next(n for n, t in tokens.items() if t.access in server.service.asked[-1].headers["authorization"])

    async def limited(writer):
        if wait := waits[carried()]:
            writer.write(http(429, json.dumps({"error": {"message": "slow down"}}), **{"retry-after": wait}))
            return await writer.drain()
        return await answer(writer)

    server.service.by_path["/chat/completions"] = limited
    assert await say(opened("nous-oauth")) == "Hello."
    assert len(server.service.asked) == 2
    assert await say(opened("nous-oauth")) == "Hello."  # as another process would
    assert len(server.service.asked) == 3
    assert carried() == "work"
    waits["work"] = "600"
    with pytest.raises(RateLimited) as caught:
        await say(opened("nous-oauth"))
    assert 80 < caught.value.retry_after <= 90  # of both, the sooner
    asked = len(server.service.asked)
    with pytest.raises(RateLimited, match="all 2 accounts") as caught:
        await say(opened("nous-oauth"))
    assert 80 < caught.value.retry_after <= 90
    assert len(server.service.asked) == asked
    waits["default"] = ""
    [shown] = [one for one in commands(opened("nous-oauth")._ctx) if one.name == "auth list"]
    assert "s more, as its service said" in CliRunner().invoke(shown.build(), []).output
    opened("nous-oauth").free()
    assert await say(opened("nous-oauth")) == "Hello."
    assert carried() == "default"


async def test_an_answer_that_used_a_limit_up_is_heard(server, enter, opened, say):
    await enter("nous-oauth")
    left = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "40s"}
    body = b'{"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}'
    server.service.by_path["/chat/completions"] = http(200, body.decode(), **left)
    assert await say(opened("nous-oauth")) == "Hello."
    with pytest.raises(RateLimited, match="this account"):
        await say(opened("nous-oauth"))
    assert len(server.service.asked) == 1


async def test_requests_at_once_go_to_different_accounts(server, ctx, enter, opened, say):
    tokens = {name: await enter("nous-oauth", name) for name in ("default", "work")}
    there = evolve(ctx, config=evolve(ctx.config, spread=True))
    both, carried = asyncio.Barrier(2), []
    answer = server.service.by_path["/chat/completions"]

    async def waiting(writer):
        token = server.service.asked[-1].headers["authorization"]
        carried.append(next(name for name, one in tokens.items() if one.access in token))
        await both.wait()
        return await answer(writer)

    server.service.by_path["/chat/completions"] = waiting
    providers = [Subscription(there, "nous-oauth") for _ in range(2)]
    assert await asyncio.gather(*map(say, providers)) == ["Hello.", "Hello."]
    assert sorted(carried) == ["default", "work"]
    for one in providers:
        await one.close()


async def test_nobody_is_logged_in(opened, say):
    assert not await opened("copilot").ready()
    with pytest.raises(AuthError, match="Nobody is logged in") as caught:
        await say(opened("copilot"))
    assert "hermes auth login copilot" in caught.value.hint


@pytest.mark.parametrize("url", ["https://evil.example", "http://127.0.0.1.evil.example", "http://localhost:1"])
async def test_no_stranger_gets_a_token(server, enter, opened, ctx, url):
    await enter("codex")
    with pytest.raises(UserError, match="gets no token"):
        opened("codex", base_url=url)
    with pytest.raises(UserError, match="takes no key"):
        opened("codex", api_key="sk-1")


async def test_tokens_are_seen_nowhere(server, ctx, enter, opened, say, caplog, tmp_path):
    caplog.set_level(logging.DEBUG)
    tokens = await enter("copilot")
    masker = Tokens(ctx)
    assert not Tokens(evolve(ctx, paths=evolve(ctx.paths, data=tmp_path / "none"))).may_hold("a")
    copilot = opened("copilot")
    await say(copilot)
    secrets = {*logins_of(ctx).secrets()}
    assert len(secrets) == 3
    for secret in secrets:
        assert list(masker.spans(f"it says {secret} there")) == [(8, 8 + len(secret), True)]
        assert masker.is_secret(secret)
    await enter("copilot")  # another login: what was known stays known
    await say(opened("copilot"))
    assert masker.is_secret(tokens.access)
    assert not any(secret in caplog.text or secret in repr(copilot.__dict__) for secret in secrets)


async def test_a_login_that_stays_is_masked_however_often_its_tokens_are_renewed(ctx, monkeypatch):
    monkeypatch.setattr("hermes_provider_subscriptions.masker._REMEMBERED", 2)
    masker, logins = Tokens(ctx), logins_of(ctx)
    for number in range(5):
        tokens = Given(access=f"access-token-{number}", refresh="refresh-token-that-stays")
        logins.write("codex", "default", Kept(token_url="", tokens=tokens))
        os.utime(logins.folder / "codex", ns=(number + 1, number + 1))
        assert masker.is_secret(tokens.access)
        assert masker.is_secret(tokens.refresh)
    assert masker.is_secret("access-token-2")
    assert not masker.is_secret("access-token-1")


async def test_a_token_that_another_program_renews_is_masked_as_well(ctx, monkeypatch, tmp_path):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    masker, file = Tokens(ctx), tmp_path / "auth.json"
    for number in range(3):
        token = f"borrowed-token-{number}"
        file.write_text(json.dumps({"tokens": {"access_token": token}}))
        os.utime(file, ns=(number + 1, number + 1))
        if not number:
            await borrowed(ctx, "codex", "default")
        assert masker.is_secret(token)
        assert masker.is_secret("borrowed-token-0")


async def test_a_step_logs_in_beside_what_is_used_and_changes_nothing(server, ctx, enter):
    await enter("copilot")
    before = logins_of(ctx).path("copilot", "default").read_bytes()
    shown = []

    async def show(prompt):
        shown.append(prompt)
        return "yes"

    server.interval = 0.001
    values = await Step(ctx, "copilot").login(show)
    assert values["account"].startswith("login-")
    assert logins_of(ctx).path("copilot", "default").read_bytes() == before
    assert "terms do not allow" in shown[0].text
    assert shown[1].code == "WDJB-MJHT"
    assert await Step(ctx, "copilot").test(values) == f"GitHub Copilot has 2 models for {values['account']}."
    assert server.wrong == []

    async def no(prompt):
        return "no"

    asked = len(server.service.asked)
    with pytest.raises(UserError, match="Nobody said yes"):
        await Step(ctx, "copilot").login(no)
    assert len(server.service.asked) == asked


async def test_doctor_names_what_has_ended(server, ctx, enter):
    [check] = checks(ctx)
    assert [one.level for one in await check.run()] == ["ok"]
    await enter("copilot")
    await enter("codex")
    server.revoke()
    found = await asyncio.wait_for(check.run(), 10)
    assert [one.level for one in found] == ["fault", "ok"]
    assert found[0].fix.endswith("hermes auth login copilot")


async def test_a_setup_asks_before_it_reads_what_another_program_keeps(server, ctx, monkeypatch, tmp_path):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    access, _ = server.minted()
    (tmp_path / "auth.json").write_text(json.dumps({"tokens": {"access_token": access}}))
    shown = []

    async def show(prompt):
        shown.append(prompt.text)
        return "yes" if "auth.json" in prompt.text or "terms" in prompt.text else ""

    values = await Step(ctx, "codex").login(show)
    assert [str(tmp_path / "auth.json") in text for text in shown] == [False, True]
    assert "login of the Codex CLI" in shown[1]
    assert logins_of(ctx).read("codex", values["account"]).borrowed == "codex"
    assert server.service.asked == []


@pytest.mark.parametrize(
    ("name", "said", "url"),
    [
        ("vertex", {"VERTEX_PROJECT_ID": "p-1"}, "https://aiplatform.googleapis.com/v1/projects/p-1/locations/global"),
        (
            "vertex",
            {"VERTEX_PROJECT_ID": "p-1", "VERTEX_REGION": "europe-west4"},
            "https://europe-west4-aiplatform.googleapis.com/v1/projects/p-1/locations/europe-west4",
        ),
        (
            "azure-foundry",
            {"AZURE_FOUNDRY_BASE_URL": "https://r.openai.azure.com/openai/v1"},
            "https://r.openai.azure.com",
        ),
        ("vertex", {}, ""),
        ("azure-foundry", {}, ""),
        ("vertex", {"VERTEX_PROJECT_ID": "p/../x"}, ""),
        ("vertex", {"VERTEX_PROJECT_ID": "p", "VERTEX_REGION": "evil.example/a"}, ""),
        ("vertex", {"VERTEX_PROJECT_ID": "p", "VERTEX_REGION": "evil.example:1"}, ""),
        ("azure-foundry", {"AZURE_FOUNDRY_BASE_URL": "https://r.openai.azure.com.evil.example"}, ""),
        ("azure-foundry", {"AZURE_FOUNDRY_BASE_URL": "http://r.openai.azure.com"}, ""),
    ],
)
def test_a_place_of_ones_own_is_the_services(ctx, name, said, url):
    del ctx.config.services[name]
    there = evolve(ctx, secrets=Said(said))
    if url:
        assert place_of(there, service_of(there, name), entry_of(there, name)).startswith(url)
    else:
        with pytest.raises(UserError):
            place_of(there, service_of(there, name), entry_of(there, name))


class Said(dict):
    """Secrets as a person set them."""

    def get(self, name, default=""):
        return super().get(name, default)
