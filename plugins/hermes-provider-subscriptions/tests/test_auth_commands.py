"""``hermes auth`` at a terminal: logging in, looking, testing, forgetting."""

import asyncio
import json

import pytest
from click.testing import CliRunner

from hermes_core.errors import HermesError
from hermes_login.foreign import path_of
from hermes_provider_subscriptions.accounts import login_of, logins_of, service_of
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
    assert "is not there" in await auth(f"login {service} --borrow --yes")
    access, _ = server.minted()
    path_of("codex" if service == "codex" else "gh").write_text(text % access)
    assert "Logged in" in await auth(f"login {service} --borrow --yes")
    assert f"read from {'codex' if service == 'codex' else 'gh'}" in await auth("list")
    assert access not in logins_of(ctx).path(service, "default").read_text()
    assert "models for default" in await auth(f"test {service}")
    assert access not in logins_of(ctx).path(service, "default").read_text()


@pytest.fixture
def files(monkeypatch, tmp_path):
    """The home of somebody who has other programs: a folder."""
    home = tmp_path / "person"
    home.mkdir()
    for name in ("CODEX_HOME", "GH_CONFIG_DIR", "CLAUDE_CONFIG_DIR", "CLOUDSDK_CONFIG", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    monkeypatch.delenv("AWS_CONFIG_FILE", raising=False)
    monkeypatch.setenv("HOME", str(home))
    return home


async def test_what_others_keep_is_shown_and_not_opened(auth, files):
    assert "No login of another program" in await auth("found")
    for name in (".codex/auth.json", ".aws/config", ".claude/.credentials.json"):
        (files / name).parent.mkdir()
        (files / name).touch(mode=0)  # nobody can read it
    rows = {row["file"]: row for row in map(json.loads, (await auth("found --json")).splitlines())}
    assert [*rows] == [
        str(files / ".codex/auth.json"),
        str(files / ".claude/.credentials.json"),
        str(files / ".aws/config"),
    ]
    assert rows[str(files / ".codex/auth.json")]["use"] == "hermes auth login codex --borrow"
    assert "providers.bedrock.profile" in rows[str(files / ".aws/config")]["use"]


async def test_a_file_is_read_with_a_yes_alone(server, ctx, auth, files):
    path = files / ".config/gcloud/application_default_credentials.json"
    path.parent.mkdir(parents=True)
    server.rotates, server.secret = False, "secret-1"
    held = {"type": "authorized_user", "client_id": "hermes-test", "client_secret": "secret-1"}
    path.write_text(json.dumps({**held, "refresh_token": server.minted()[1]}))
    told = await auth("login vertex")
    assert "application default credentials" in told
    assert "say --yes" in told
    assert not logins_of(ctx).accounts("vertex")
    assert "Logged in" in await auth("login vertex --yes")
    assert "Google Vertex AI has 2 models for default." in await auth("test vertex")
    assert server.refreshed == 1
    assert server.wrong == []
    assert "cannot be read" in await auth(f"login vertex --as other --file {files} --yes")
    assert "No other program is known" in await auth("login xai --borrow --yes")


async def test_a_yes_is_to_the_file_that_was_shown(server, ctx, auth, files, monkeypatch):
    for name in ("mine", "another"):
        path = files / name / "auth.json"
        path.parent.mkdir()
        path.write_text(json.dumps({"tokens": {"access_token": f"token-that-is-{name}"}}))
    monkeypatch.setenv("CODEX_HOME", str(files / "mine"))
    assert "Logged in" in await auth("login codex --borrow --yes")
    monkeypatch.setenv("CODEX_HOME", str(files / "another"))  # a project's folder, a service: another environment
    login = login_of(ctx, service_of(ctx, "codex"), "default")
    assert (await login.bearer()).token == "token-that-is-mine"
    assert [*logins_of(ctx).secrets()] == ["token-that-is-mine"]


async def test_a_path_that_leads_nowhere_is_told_and_not_asked_about(auth, files, monkeypatch):
    for path in (files / "none.json", "~nobody-here/key.json"):
        told = await auth(f"login vertex --file {path}")
        assert f"{path} is not there" in told
        assert "Read it" not in told
    (files / "key\x07\x1b[2J.json").touch()
    told = await auth(f"login vertex --file {files}/key\x07\x1b[2J.json")
    assert "Read it" in told
    assert "\x07" not in told
    monkeypatch.setenv("CODEX_HOME", "~nobody-here")
    assert "No login of another program" in await auth("found")


async def test_terms_that_do_not_allow_it_are_said_before_anything(auth, files):
    told = await auth("login claude")
    assert told.startswith("Anthropic's terms do not allow this")
    assert "say --yes" in told
    assert "is not there" in await auth("login claude --yes")


async def test_every_service_logs_in_and_out(server, ctx, auth, files):
    from hermes_login.service import load_service
    from hermes_provider_subscriptions.accounts import SERVICES

    server.interval = 0.001
    codes = [name for name in SERVICES if load_service(name).flow == "device" and not load_service(name).dialect]
    assert len(codes) == 6
    for name in codes:
        row = load_service(name)
        server.scope, server.proof, server.refresh_header = " ".join(row.scopes), row.proof, row.refresh_header
        short = name.removesuffix("-oauth")
        assert "Logged in" in await auth(f"login {short} --yes")
        assert " for default." in await auth(f"test {short}")
        assert "is forgotten" in await auth(f"logout {short}")
    assert server.wrong == []
    assert "Nobody is logged in" in await auth("list")


async def test_an_app_of_ones_own_is_asked_for(server, ctx, auth, files):
    for name in ("huggingface-oauth", "gemini-oauth", "azure-foundry"):
        del ctx.config.services[name]
        told = await auth(f"login {name} --yes")
        assert "hands out no client" in told
        assert f"hermes config set subscriptions.services.{name}.client_id" in told
    assert server.service.asked == []
