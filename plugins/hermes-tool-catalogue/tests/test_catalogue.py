"""What services and a public list say of models is kept, used while they are away, and never guessed."""

import json
import time

import pytest

from hermes_core.errors import UserError
from hermes_core.testing import plugin_context
from hermes_core.testing.model_service import http, model_service
from hermes_core.types import Endpoint, Feature, Model, ModelRow, Price, ProviderRow
from hermes_provider_kit.kept import Kept, Lists, public_folder, read_offers
from hermes_provider_openai.provider import all_providers
from hermes_tool_catalogue.config import Config
from hermes_tool_catalogue.public import bring, read
from hermes_tool_catalogue.refresh import last, refresh
from hermes_tool_catalogue.service import Catalogue

PUBLIC = {
    "openai": {
        "models": {
            "gpt-x": {
                "limit": {"context": 400_000, "output": 128_000},
                "cost": {"input": 1.25, "output": 10, "cache_read": 0.125},
                "tool_call": True,
                "reasoning": True,
                "modalities": {"input": ["text", "image"]},
            },
            "by-plan": {"limit": {"context": 8_000}, "cost": {"input": 0, "output": 0}, "tool_call": True},
            "odd": {"limit": {"context": True, "output": -1}, "cost": {"input": "x", "output": 1}, "modalities": []},
            "huge": {"limit": {"context": 10**400}, "cost": {"input": 10**400, "output": 1}},
            "": {},
            "none": None,
        }
    },
    "../../etc/cron": {"models": {"m": {}}},
    "Upper": {"models": {"m": {}}},
    "empty": {"models": []},
    "text": "text",
}


def test_the_public_list_is_read_and_what_is_not_of_its_form_is_left_out():
    found = read(PUBLIC)
    assert found.keys() == {"openai"}  # no name that leads out of its folder
    rows = {one.model.name: one for one in found["openai"]}
    assert rows["gpt-x"].price == Price(input=1.25, output=10.0, cache_read=0.125)
    can = frozenset({Feature.TOOLS, Feature.REASONING, Feature.IMAGES})
    assert rows["gpt-x"].model == Model(name="gpt-x", context=400_000, output=128_000, features=can)
    assert rows["by-plan"].price is None  # nothing in a list is not free of charge
    assert rows["odd"].price is None
    assert (rows["odd"].model.context, rows["odd"].model.output) == (0, 0)
    assert rows["huge"].price is None
    assert rows.keys() == {"gpt-x", "by-plan", "odd", "huge"}
    for strange in (None, [], "x", {"openai": []}, {"openai": {"models": {"m": []}}}):
        assert read(strange) == {}
    assert len(read({f"s{number}": PUBLIC["openai"] for number in range(3_000)})) == 1_000  # a file each


@pytest.fixture
def lists(tmp_path):
    return Lists(tmp_path / "own", tmp_path / "public")


async def test_it_is_brought_and_used_for_the_service_at_its_own_address_only(lists, secrets):
    async with model_service("/api.json") as service:
        service.always = http(200, json.dumps(PUBLIC))
        assert await bring(service.url, lists.public) == 1
        assert "authorization" not in {name.lower() for name in service.asked[0].headers}
        service.always = http(200, "[[[")
        with pytest.raises(Exception, match="public list"):
            await bring(service.url, lists.public)
        for wrong in ("file:///etc/passwd", "https://", "models.dev", "https://h:99999/x"):
            with pytest.raises(UserError, match=r"catalogue\.url is no address"):
                await bring(wrong, lists.public)
    assert sorted(read_offers(lists.public / "openai.json")) == ["by-plan", "gpt-x", "huge", "odd"]  # the old one stays
    openai, elsewhere = provider("openai", secrets, lists), provider("openai", secrets, lists)
    elsewhere = elsewhere.at(Endpoint(name="openai", base_url="https://proxy.example/v1", api_key="k"))
    assert (openai.window("gpt-x"), openai.price("gpt-x")) == (400_000, Price(input=1.25, output=10, cache_read=0.125))
    assert (elsewhere.window("gpt-x"), elsewhere.price("gpt-x")) == (0, None)
    assert openai.price("by-plan") is None
    assert openai.window("gpt-5") == 400_000  # what comes with Hermes fills the rest


async def test_what_a_service_listed_is_there_while_it_is_away(lists, secrets):
    rows = [
        {"id": "a/b", "context_length": 9_000, "pricing": {"prompt": "0.000002", "completion": "0.00001"}},
        {"id": "vendor/auto", "pricing": {"prompt": "-1", "completion": "-1"}},
        {"id": "free", "pricing": {"prompt": "0", "completion": "0"}},
        {"id": "vercel", "pricing": {"input": "0.0000005", "output": "0.000002", "input_cache_read": "0.00000005"}},
        {"id": "unit-unknown", "pricing": {"input": 0.2, "output": 0.3}},
        {"id": "infra", "metadata": {"pricing": {"input_tokens": 0.1, "output_tokens": 0.4}}},
    ]
    async with model_service("/v1") as service:
        service.by_path["/v1/models"] = http(200, json.dumps({"data": rows}))
        there = provider("custom", secrets, lists).at(Endpoint(name="lab", base_url=service.url, api_key="k"))
        asked = await there.models()
        service.by_path["/v1/models"] = http(503, "away")
        again = provider("custom", secrets, lists).at(Endpoint(name="lab", base_url=service.url, api_key="k"))
        assert await again.models() == asked
        assert again.window("a/b") == 9_000
        assert again.price("a/b") == Price(input=2.0, output=10.0)  # it says so, though it is on this machine
        assert again.price("free") == Price(input=0.0, output=0.0)
        proxy = provider("openrouter", secrets, lists).at(Endpoint(name="openrouter", base_url=service.url))
        assert proxy.price("m") is None  # what stands before a hosted service is not free
        service.by_path["/v1/models"] = http(401, '{"error": {"message": "bad key"}}')
        with pytest.raises(Exception, match="401"):  # a wrong key is not hidden by what is kept
            await again.models()
        await there.close()
        await again.close()
    [file] = lists.own.iterdir()
    prices = {name: one.price for name, one in read_offers(file).items()}
    assert prices == {
        "a/b": Price(input=2.0, output=10.0),
        "vendor/auto": None,
        "free": None,
        "vercel": Price(input=0.5, output=2.0, cache_read=0.05),
        "unit-unknown": None,
        "infra": Price(input=0.1, output=0.4),
    }
    assert file.stat().st_mode & 0o077 == 0


def test_files_that_nobody_wrote_like_this_are_nothing(tmp_path):
    for number, text in enumerate(
        [
            *("", "[]", "{", '{"models": 3}', '{"models": {"m": {"context": "x"}}}', "[" * 90_000),
            *('{"models": {"m": 1}}', '{"models": {"m": {"features": [], "context": Infinity, "output": 0}}}'),
        ]
    ):
        file = tmp_path / f"{number}.json"
        file.write_text(text)
        assert read_offers(file) == {}
        assert Kept(file, tmp_path / "none").models() == []


class Answering:
    """What ``ctx.models`` is to a plugin."""

    def __init__(self) -> None:
        self.asked = []

    async def providers(self):
        kinds = {"good": "hosted", "bad": "hosted", "here": "local", "rules": "rules"}
        rows = [ProviderRow(name=name, ready=True, kind=kind) for name, kind in kinds.items()]
        return [*rows, ProviderRow(name="keyless", ready=False, kind="hosted")]

    async def list(self, provider=""):
        self.asked.append(provider)
        if provider == "bad":
            raise UserError("bad answered 401.")
        return [ModelRow(provider=provider, model=Model(name="m"))]


async def test_a_round_asks_who_is_set_up_and_one_that_fails_costs_its_own_list(manifest_of, tmp_path):
    models, told = Answering(), []
    async with model_service("/api.json") as service:
        service.always = http(200, json.dumps(PUBLIC))
        config = Config(url=service.url)
        ctx = plugin_context(manifest_of("hermes_tool_catalogue"), tmp_path, config=config, models=models)
        turning = Catalogue(ctx)
        assert turning.due()
        made = await refresh(ctx, told.append, public=True)
    assert models.asked == ["good", "bad"]
    assert told == ["good: 1 models", "bad: bad answered 401.", "public list: 1 prices"]
    assert (made.services, made.models, made.prices, made.wrong) == (1, 1, 1, ("bad: bad answered 401.",))
    assert last(ctx) == made
    assert not turning.due()
    assert "1 models of 1 services" in await turning.status()
    assert (public_folder(ctx.paths) / "openai.json").exists()
    away = Config(url="http://me:hidden@127.0.0.1:1/api.json")
    ctx = plugin_context(manifest_of("hermes_tool_catalogue"), tmp_path, config=away, models=models)
    made = await refresh(ctx, told.append, public=True)
    assert (made.services, made.prices, len(made.wrong)) == (1, 0, 2)
    assert "Cannot connect to the public list 127.0.0.1" in told[-1]
    assert "hidden" not in (ctx.paths.cache / "round.json").read_text() + await turning.status()
    row = json.loads((ctx.paths.cache / "round.json").read_text())
    (ctx.paths.cache / "round.json").write_text(json.dumps({**row, "when": time.time() + 9e6}))
    assert turning.due()  # a clock that was put back


def provider(name, secrets, lists):
    return next(one for one in all_providers(secrets, {}, lists) if one.name == name)
