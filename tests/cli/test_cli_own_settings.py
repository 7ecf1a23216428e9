"""Settings of a third-party provider stand beside the kernel's, in the section of its name."""

import json

import pytest

ACME = '''
# /// hermes
# api = 1
# name = "acme"
# kind = "provider"
# summary = "Answers with where it is."
# [contributes]
# providers = ["acme"]
# [config]
# section = "providers.acme"
# class = "acme:Config"
# ///
"""Answers with where it is."""
from hermes_core import Provider, hookimpl, option, settings
from hermes_core.types import Done, Model, TextDelta


@settings
class Config:
    """Where it is."""

    region: str = option("The region.", default="north")
    retries: int = option("How often it is asked.", default=1)


class Acme(Provider):
    name = "acme"

    def __init__(self, config, endpoint):
        self.said = f"{config.region} {config.retries} {endpoint.base_url if endpoint else 'nowhere'}"

    async def models(self):
        return [Model(name="acme-1", context=4096, features=frozenset())]

    async def stream(self, request):
        yield TextDelta(text=self.said)
        yield Done(reason="stop")

    def at(self, endpoint):
        return self


@hookimpl
def register_providers(ctx):
    return [Acme(ctx.config, ctx.endpoints.get("acme"))]
'''


@pytest.fixture
def acme(cli):
    (cli.home / "plugins").mkdir()
    (cli.home / "plugins" / "acme.py").write_text(ACME)
    assert cli("plugins", "enable", "acme", "--yes").status == 0
    return cli


def test_its_keys_and_the_kernels_are_each_read_by_their_owner(acme):
    for key, value in (("region", "south"), ("retries", "3"), ("base_url", "http://127.0.0.1:9")):
        assert acme("config", "set", f"providers.acme.{key}", value).status == 0
    assert acme("--provider", "acme", "-z", "where").out == "south 3 http://127.0.0.1:9\n"
    assert acme("config", "check").status == 0
    assert acme("config", "get", "providers.acme.region").out.strip() == "south"
    assert acme("config", "get", "providers.acme.base_url").out.strip() == "http://127.0.0.1:9"
    schema = json.loads(acme("config", "schema").out)["properties"]["providers"]["properties"]["acme"]["properties"]
    assert {"region", "retries", "base_url", "api_key"} <= schema.keys()


def test_its_own_keys_alone_ask_it_for_no_address(acme):
    code = ACME.replace("    def at(self, endpoint):\n        return self\n", "")
    assert "def at" not in code
    (acme.home / "plugins" / "acme.py").write_text(code)
    assert acme("config", "set", "providers.acme.region", "south").status == 0
    assert acme("--provider", "acme", "-z", "where").out == "south 1 nowhere\n"
    assert acme("config", "set", "providers.acme.base_url", "http://127.0.0.1:9").status == 0
    assert "takes no address or key" in acme("--provider", "acme", "-z", "where").err


def test_a_section_of_a_platform_without_settings_of_its_own_is_its_plugins(cli):
    code = "from hermes_core import hookimpl\n@hookimpl\ndef register_platforms(): return []\n"
    cli.plugin("platform/lines", code, contributes={"platforms": ["lines"]})
    (cli.home / "config.yaml").write_text("platforms: {lines: {}, letters: {}}\n")
    out = cli("doctor").out
    assert "section platforms.letters belongs to no installed plugin" in out
    assert "platforms.lines" not in out


def test_a_wrong_name_or_value_is_told_by_whoever_reads_it(acme):
    assert "retries: must be a whole number" in acme("config", "set", "providers.acme.retries", "many").err
    assert "did you mean region?" in acme("config", "set", "providers.acme.regoin", "x").err
    assert "did you mean base_url?" in acme("config", "set", "providers.other.base_ulr", "x").err


def test_where_nobody_claims_it_the_start_refuses_it_and_where_one_is_off_it_waits(acme):
    text = "providers: {acme: {region: south}}\n"
    (acme.home / "config.yaml").write_text(text)
    acme("plugins", "disable", "acme")
    assert acme("config", "check").status == 0
    assert acme("-z", "hello").status == 0
    (acme.home / "plugins" / "acme.py").unlink()
    done = acme("-z", "hello")
    assert done.status == 2
    assert "config.yaml:1 providers.acme.region: no such setting" in done.err
    assert "providers.acme.region: no such setting" in acme("config", "check").err
