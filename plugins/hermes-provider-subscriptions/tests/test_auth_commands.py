"""``hermes auth`` at a terminal: logging in, looking, testing, forgetting."""

import asyncio
import json

import pytest
from click.testing import CliRunner

from hermes_core.errors import HermesError
from hermes_login.foreign import path_of
from hermes_provider_subscriptions.accounts import logins_of
from hermes_provider_subscriptions.commands import commands


@pytest.fixture
def auth(ctx):
    """``await auth("login copilot --yes")``: what a terminal shows; an error as the kernel would say it."""

    async def run(line, typed=""):
        name, *words = line.split()
        [command] = [one for one in commands(ctx) if one.name == f"auth {name}"]
        done = await asyncio.to_thread(CliRunner().invoke, command.build(), words, input=typed)
        if isinstance(done.exception, HermesError):
            return f"{done.output}{done.exception}"
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.output

    return run


async def test_a_person_logs_in_looks_tests_and_forgets(server, ctx, auth):
    server.interval = 0.001
    assert "Nobody is logged in" in await auth("list")
    assert "Nobody is logged in" in await auth("test")
    told = await auth("login github-copilot --yes")
    assert "terms do not allow" in told
    assert f"{server.url}/activate\n\nCode: WDJB-MJHT" in told
    assert "Logged in to GitHub Copilot as default" in told
    await auth("login copilot --as work --yes")
    rows = [json.loads(line) for line in (await auth("list --json")).splitlines()]
    assert [(row["service"], row["account"]) for row in rows] == [("copilot", "default"), ("copilot", "work")]
    assert (await auth("test copilot work")).strip() == "GitHub Copilot has 2 models for work."
    assert "Say which one" in await auth("logout copilot")
    assert "is forgotten" in await auth("logout copilot work")
    assert "There is no login work" in await auth("logout copilot work")
    server.revoke()
    told = await auth("test")
    assert "has ended" in told
    assert "1 of 1 logins do not work" in told
    shown = told + json.dumps(rows)
    assert not any(secret in shown for secret in logins_of(ctx).secrets())
    assert server.wrong == []


async def test_without_a_yes_nobody_is_asked_for_anything(server, auth):
    assert "say --yes" in await auth("login codex")
    assert "Did you mean 'codex'" in await auth("login codx --yes")
    assert "no name" in await auth("login codex --as ../x --yes")
    assert server.service.asked == []


async def test_a_page_of_another_login_is_refused(server, auth):
    server.scope = "openid profile email offline_access"
    told = await auth("login codex --paste --yes", typed="http://localhost:1455/auth/callback?code=a&state=b\n")
    assert "belongs to another login" in told
    assert server.service.asked == []


@pytest.mark.parametrize(
    ("service", "text"), [("codex", '{"tokens": {"access_token": "%s"}}'), ("copilot", "github.com: {oauth_token: %s}")]
)
async def test_a_login_is_borrowed_with_a_yes(server, ctx, auth, monkeypatch, tmp_path, service, text):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    monkeypatch.setenv("GH_CONFIG_DIR", str(tmp_path))
    assert "cannot be read" in await auth(f"login {service} --borrow --yes")
    access, _ = server.minted()
    path_of("codex" if service == "codex" else "gh").write_text(text % access)
    assert "Logged in" in await auth(f"login {service} --borrow --yes")
    assert f"read from {'codex' if service == 'codex' else 'gh'}" in await auth("list")
    assert access not in logins_of(ctx).path(service, "default").read_text()
    assert "models for default" in await auth(f"test {service}")
    assert access not in logins_of(ctx).path(service, "default").read_text()
