"""The catalogue: every file is sound, and what is derived from it is up to date."""

import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest

from hermes_core.types import Endpoint
from hermes_openai_wire.entry import parse_entry
from hermes_openai_wire.line import open_line
from hermes_provider_openai.entry import FOLDER, load_entry
from hermes_provider_openai.listed import LISTED

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "hermes_provider_openai"


@pytest.fixture
def generate(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])  # it puts its folder there
    spec = importlib.util.spec_from_file_location("openai_generate", ROOT / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_list_and_the_manifest_say_what_the_files_say(generate):
    catalogue = generate.entries()
    assert (PACKAGE / "hermes-plugin.toml").read_text() == generate.manifest_source(catalogue)
    said = [tuple(getattr(entry, name) for name in generate.FIELDS) for entry in catalogue]
    assert [tuple(listed) for listed in LISTED] == said, "run generate.py"
    manifest = tomllib.loads((PACKAGE / "hermes-plugin.toml").read_text())
    names = [name for listed in LISTED for name in (listed.name, *listed.aliases)]
    assert manifest["contributes"]["providers"] == names
    assert len(set(names)) == len(names), "two services share a name"
    assert {file.stem for file in FOLDER.glob("*.toml")} == {listed.name for listed in LISTED}


@pytest.mark.parametrize("name", [listed.name for listed in LISTED])
def test_each_file_is_sound(name, keys):
    entry = load_entry(name)
    assert entry.name == name
    assert entry.local or entry.base_url.startswith("https://") or name == "custom"
    assert entry.env or not entry.key_needed
    if name != "custom":
        line = open_line(entry, name, keys(**dict.fromkeys(entry.env, "k")), None)
        assert line.service.url == entry.base_url
        assert line.service.key == ("k" if entry.env else "")


def test_a_wrong_file_is_refused_with_every_problem():
    with pytest.raises(ValueError, match=r"^x\.toml: ") as raised:
        parse_entry({"name": "x", "title": "", "colour": 1, "priority": "high", "protocol": "smoke"}, where="x.toml")
    for told in ("summary is required", "colour no such setting", "priority must be a whole number, not text"):
        assert told in str(raised.value)
    assert "title must have at least 1 characters" in str(raised.value)
    assert "protocol must be one of chat, responses" in str(raised.value)
    with pytest.raises(ValueError, match=r"temperature must be.* replay\[0\] must be one of"):
        parse_entry({"name": "x", "title": "X", "summary": "s", "temperature": "hot", "replay": ["tea"]}, where="x")


def test_the_user_wins_over_the_environment_and_that_over_the_file(keys):
    entry = load_entry("deepseek")
    env = keys(DEEPSEEK_API_KEY="from-env", DEEPSEEK_BASE_URL="https://env.example/v1")
    line = open_line(entry, "deepseek", env, None)
    assert (line.service.url, line.service.key) == ("https://env.example/v1", "from-env")
    mine = Endpoint(name="deepseek", base_url="https://me.example/v1/", api_key="mine", timeout=3.0)
    line = open_line(entry, "deepseek", env, mine)
    assert (line.service.url, line.service.key, line.stale_seconds) == ("https://me.example/v1", "mine", 3.0)
    assert "mine" not in repr(line)
    assert open_line(load_entry("lmstudio"), "lmstudio", keys(), None).stale_seconds == 900.0
    assert open_line(entry, "deepseek", keys(), None).stale_seconds == 300.0  # it thinks


def test_a_services_key_goes_to_no_other_address_under_another_name(keys):
    env = keys(OPENAI_API_KEY="sk-theirs", CUSTOM_API_KEY="anywhere")
    lab = Endpoint(name="lab", base_url="https://lab.example/v1")
    line = open_line(load_entry("openai"), "lab", env, lab)
    assert (line.service.key, line.service.variables, line.service.signup) == ("", (), "")
    assert open_line(load_entry("custom"), "lab", env, lab).service.key == "anywhere"
    for name, endpoint in (("lab", Endpoint(name="lab")), ("openai", Endpoint(name="openai", base_url=lab.base_url))):
        assert open_line(load_entry("openai"), name, env, endpoint).service.key == "sk-theirs"


def test_windows_and_prices_are_known_without_asking(named):
    openai = named("openai", OPENAI_API_KEY="k")
    assert openai.window("gpt-5") == 400_000
    assert openai.window("gpt-nobody-knows") == 0
    price = openai.price("gpt-5-mini")
    assert (price.input, price.output, price.cache_read, price.cache_write) == (0.25, 2.0, 0.025, None)
    assert openai.price("gpt-nobody-knows") is None
    elsewhere = openai.at(Endpoint(name="openai", base_url="https://llm.example/v1", context=9_000))
    assert (elsewhere.window("gpt-5"), elsewhere.price("gpt-5")) == (9_000, None)
    local = named("lmstudio").price("anything")
    assert (local.input, local.output) == (0, 0)


@pytest.mark.parametrize("row", [{"input": 1}, {"input": -1, "output": 1}, {"input": 1, "output": "2"}, 7])
def test_a_price_that_is_none_is_refused(row):
    data = {"name": "x", "title": "X", "summary": "s", "prices": {"m": row}, "prices_from": "here"}
    with pytest.raises(ValueError, match=r"prices.*(the price of m is not one|must be a (number|section), not)"):
        parse_entry(data, where="x.toml")


def test_prices_say_where_they_are_from():
    data = {"name": "x", "title": "X", "summary": "s", "prices": {"m": {"input": 1, "output": 2}}}
    with pytest.raises(ValueError, match="prices_from is missing"):
        parse_entry(data, where="x.toml")
