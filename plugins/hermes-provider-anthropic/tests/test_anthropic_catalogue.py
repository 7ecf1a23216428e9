"""The catalogue: every file is sound, and the list agrees with it."""

import tomllib
from pathlib import Path

import pytest

from hermes_core.errors import UserError
from hermes_core.types import Endpoint
from hermes_provider_anthropic import entry as entries
from hermes_provider_anthropic.entry import FOLDER, load_entry, parse_entry
from hermes_provider_anthropic.line import open_line
from hermes_provider_anthropic.listed import LISTED
from hermes_provider_anthropic.provider import all_providers

PACKAGE = Path(entries.__file__).parent


def test_the_list_and_the_manifest_say_what_the_files_say():
    assert {file.stem for file in FOLDER.glob("*.toml")} == {listed.name for listed in LISTED}
    for listed in LISTED:
        entry = load_entry(listed.name)
        assert not listed.local
        assert tuple(listed)[:-1] == tuple(getattr(entry, name) for name in listed._fields[:-1])
    manifest = tomllib.loads((PACKAGE / "hermes-plugin.toml").read_text())
    assert manifest["contributes"]["providers"] == [n for row in LISTED for n in (row.name, *row.aliases)]
    secrets = {name for row in LISTED for name in (*row.env, row.base_url_env)}
    assert set(manifest["permissions"]["secrets"]) == secrets


@pytest.mark.parametrize("name", [listed.name for listed in LISTED])
def test_each_service_is_sound(name, keys):
    entry = load_entry(name)
    assert entry.base_url.startswith("https://")
    assert entry.card(entry.default_model).name == entry.default_model
    names = [card.name for card in entry.models]
    assert len(set(names)) == len(names)
    assert all(card.output and card.context for card in entry.models)
    line = open_line(entry, name, keys(**dict.fromkeys(entry.env, "k")), None)
    assert (line.service.url, line.service.key, line.own) == (entry.base_url, "k", True)


def test_a_model_is_known_by_its_name_its_date_or_its_family():
    entry = load_entry("anthropic")
    for model, card in (
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("anthropic/claude-opus-5.5", "claude-opus-5-5"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude-opus-4-1", "claude-opus-4*"),
        ("claude-opus-9", "claude-*"),
        ("llama", "llama"),
    ):
        assert entry.card(model).name == card
    assert load_entry("minimax").card("minimax-m2.7").name == "MiniMax-M2.7"


def test_a_wrong_file_is_refused_with_every_problem():
    wrong = {"name": "x", "title": "X", "colour": 1, "priority": "high", "models": [{"name": "m", "thinking": "hard"}]}
    with pytest.raises(ValueError, match=r"^x\.toml: ") as raised:
        parse_entry(wrong, where="x.toml")
    for told in ("summary is required", "colour no such setting", "priority must be a whole number, not text"):
        assert told in str(raised.value)
    assert "models[0].thinking must be one of" in str(raised.value)


def test_the_user_wins_over_the_environment_and_that_over_the_file(keys):
    entry = load_entry("anthropic")
    env = keys(ANTHROPIC_API_KEY="from-env", ANTHROPIC_BASE_URL="https://env.example")
    line = open_line(entry, "anthropic", env, None)
    assert (line.service.url, line.service.key, line.own) == ("https://env.example", "from-env", False)
    mine = Endpoint(name="anthropic", base_url="https://me.example/v1/", api_key="mine", timeout=3.0)
    line = open_line(entry, "anthropic", env, mine)
    assert (line.service.url, line.service.key, line.stale_seconds) == ("https://me.example", "mine", 3.0)
    assert "mine" not in repr(line)


def test_a_services_key_goes_to_no_other_address_under_another_name(keys):
    entry, env = load_entry("anthropic"), keys(ANTHROPIC_API_KEY="sk-theirs", ANTHROPIC_BASE_URL="https://gate.example")
    for name in ("lab", "custom"):
        line = open_line(entry, name, env, Endpoint(name=name, base_url="https://lab.example"))
        assert (line.service.key, line.service.variables, line.service.signup) == ("", (), "")
    same = (
        ("lab", Endpoint(name="lab", base_url=entry.base_url)),
        ("lab", Endpoint(name="lab")),  # where the environment says that the service is
        ("claude", Endpoint(name="claude", base_url="https://gate.example")),
    )
    for name, endpoint in same:
        assert open_line(entry, name, env, endpoint).service.key == "sk-theirs"


def test_addresses_are_taken_in_every_spelling_and_wrong_ones_refused(keys):
    entry = load_entry("anthropic")
    for url in ("http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/messages/", "http://h:1/v1/models"):
        assert open_line(entry, "x", keys(), Endpoint(name="x", base_url=url)).service.url == "http://h:1"
    for url in ("localhost:8000", "ftp://x", "http://", "http://h:port", "http://a b"):
        with pytest.raises(UserError, match="base_url"):
            open_line(entry, "x", keys(), Endpoint(name="x", base_url=url))
    with pytest.raises(UserError, match="Remove protocol"):
        open_line(entry, "x", keys(), Endpoint(name="x", protocol="chat"))


def test_windows_and_prices_are_known_without_asking(keys):
    provider = next(p for p in all_providers(keys(), {}) if p.name == "anthropic")
    assert provider.window("claude-sonnet-4-5") == 200_000
    price = provider.price("anthropic/claude-haiku-4.5")
    assert (price.input, price.output, price.cache_read, price.cache_write) == (1.0, 5.0, 0.1, 1.25)
    assert provider.price("claude-haiku-5-5") is None
    elsewhere = provider.at(Endpoint(name="anthropic", base_url="https://llm.example", context=9_000))
    assert (elsewhere.window("claude-sonnet-4-5"), elsewhere.price("claude-sonnet-4-5")) == (9_000, None)
    assert load_entry("anthropic").prices_from.startswith("https://platform.claude.com/")


@pytest.mark.parametrize("price", [[1.0, 2.0], [1.0, 2.0, 3.0, -4.0], ["1", 2, 3, 4]])
def test_a_price_that_is_none_is_refused(price):
    data = {"name": "x", "title": "X", "summary": "s", "models": [{"name": "m", "price": price}]}
    with pytest.raises(ValueError, match=r"models\[0\]\.price(\[0\])? must be"):
        parse_entry(data, where="x.toml")
