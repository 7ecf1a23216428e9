"""Every row logs in against a server that checks each parameter; what a service hands to nobody is not made up."""

import asyncio
import json
from urllib.parse import parse_qs, urlsplit

import pytest
from attrs import evolve

from hermes_core.errors import AuthError, HermesError, Unavailable, UserError
from hermes_core.testing.model_service import http
from hermes_login.entering import log_in
from hermes_login.foreign import PROGRAMS, path_of, read_foreign
from hermes_login.kept import Kept, Logins
from hermes_login.renewing import Login
from hermes_login.service import SERVICES, load_service
from hermes_login.tokens import Tokens

ROWS = sorted(path.stem for path in SERVICES.glob("*.toml"))
ENTERED = [name for name in ROWS if load_service(name).flow != "borrow"]
CODES = [name for name in ENTERED if load_service(name).flow == "device"]


@pytest.fixture
def row(server):
    """``row("qwen-oauth")``: the row as it is, at the server of the tests, which wants what the row is for."""

    def make(name, **over):
        at = {key: f"{server.url}/{key.removesuffix('_url')}" for key in ("device_url", "authorize_url", "token_url")}
        at["client_id"] = server.client_id
        if load_service(name).secret:
            at["client_secret"] = server.secret = "app-secret-0001"
        said = load_service(name, {**at, "exchange_url": "", "hosts": ["127.0.0.1"], "redirect_ports": [0], **over})
        server.scope, server.proof, server.dialect = " ".join(said.scopes), said.proof, said.dialect
        server.refresh_header = said.refresh_header
        return said

    return make


async def patient(_seconds):
    pass


def test_rows_say_where_they_were_read_and_lead_to_their_own_hosts():
    for service in map(load_service, ROWS):
        assert service.sources, service.name
        assert service.hosts, service.name
        assert bool(service.client_id) or service.flow == "borrow" or service.register.startswith("https://")
        assert not service.client_secret
        for host in service.hosts:
            url = host.replace("*", "x") if host[:1] == "*" else host
            assert service.may_have_tokens(f"https://{url}/v1")
            assert not service.may_have_tokens(f"http://{url}/v1")
            assert not service.may_have_tokens(f"https://{url}.evil.example/v1")


@pytest.mark.parametrize("name", ENTERED)
async def test_a_person_logs_in_and_the_login_is_renewed(server, row, tmp_path, monkeypatch, name):
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    service, visits = row(name), []

    async def show(prompt):
        if prompt.code:
            assert prompt.code == "WDJB-MJHT"
        else:
            asked = {key: one[0] for key, one in parse_qs(urlsplit(prompt.url).query).items()}
            assert service.extra.items() <= asked.items()
            visits.append(asyncio.create_task(server.agree(prompt.url)))
        return ""

    server.pending += ["pending"] if service.dialect else ["authorization_pending", "slow_down"]
    tokens = await log_in(service, show, sleep=patient)
    assert server.is_good(tokens.access)
    login = Login(service, Logins(tmp_path), "default", again="hermes auth login")
    await login.keep(Kept(token_url=service.token_url, tokens=tokens))
    assert (await login.bearer()).token == tokens.access
    renewed = await login.bearer(tokens.access)
    assert server.is_good(renewed.token)
    assert renewed.token != tokens.access
    assert renewed.headers.items() >= service.headers.items()
    assert server.refreshed == 1
    assert server.wrong == []
    await asyncio.gather(*visits)


@pytest.mark.parametrize("name", [name for name in ENTERED if not load_service(name).client_id])
async def test_who_hands_out_no_client_is_not_asked_without_one(server, name):
    async def show(prompt):
        raise AssertionError(prompt)

    with pytest.raises(UserError, match="hands out no client") as caught:
        await log_in(load_service(name), show)
    assert load_service(name).register in caught.value.hint
    assert server.service.asked == []


@pytest.mark.parametrize("name", CODES)
async def test_no_code_is_typed_into_a_strangers_page(server, row, name):
    begun = {"device_code": "device-code-0001", "user_code": "WDJB-MJHT", "verification_uri": "http://evil.example/a"}
    server.hostile["/device"] = http(200, json.dumps(begun))

    async def show(prompt):
        raise AssertionError(prompt)

    with pytest.raises(Unavailable, match="not its own"):
        await log_in(row(name), show, sleep=patient)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"state": "another"}, "another login"),
        ({"user_code": "\x1b]0;x"}, "no code"),
        ({"verification_uri": "https://evil.example/"}, "not its own"),
    ],
)
async def test_the_dialect_of_codes_hears_only_its_own_login(server, row, change, text):
    service = row("minimax-oauth")
    whole = server._device
    handler = server.service.by_path["/device"]

    def changed(asked):
        body = whole(asked).partition(b"\r\n\r\n")[2]
        return http(200, json.dumps({**json.loads(body), **change}))

    async def answer(writer):
        writer.write(changed(server.service.asked[-1]))
        await writer.drain()
        return False

    server.service.by_path["/device"] = answer
    assert handler

    async def show(_prompt):
        return ""

    with pytest.raises(Unavailable, match=text):
        await log_in(service, show, sleep=patient)
    server.service.by_path["/device"] = handler
    server.pending.append("error")
    with pytest.raises(UserError, match="refused"):
        await log_in(service, show, sleep=patient)


async def test_a_place_of_tokens_is_the_services_own(server, row, tmp_path):
    service = row("qwen-oauth", hosts=["127.0.0.1", "portal.qwen.ai"])

    async def show(_prompt):
        return ""

    server.reply["resource_url"] = "portal.qwen.ai"
    tokens = await log_in(service, show, sleep=patient)
    login = Login(service, Logins(tmp_path), "default", again="")
    await login.keep(Kept(token_url=service.token_url, tokens=tokens))
    assert (await login.bearer()).base_url == "https://portal.qwen.ai/v1"
    del server.reply["resource_url"]
    assert (await login.bearer(tokens.access)).base_url == "https://portal.qwen.ai/v1"
    server.reply["resource_url"] = "portal.qwen.ai.evil.example"
    with pytest.raises(Unavailable, match="not its own"):
        await log_in(service, show, sleep=patient)


FILES = {
    "claude": {"claudeAiOauth": {"accessToken": "sk-ant-oat01-x", "refreshToken": "r" * 9, "expiresAt": 4e12}},
    "codex": {"tokens": {"access_token": "eyJ-access", "account_id": "acc-1"}},
    "qwen": {"access_token": "qwen-access", "resource_url": "portal.qwen.ai", "expiry_date": 4e12},
    "gh": {"github.com": {"oauth_token": "gho_access"}},
    "gcloud": {
        "type": "authorized_user",
        "client_id": "1-a",
        "client_secret": "secret-1",
        "refresh_token": "1//ref-1",
    },
}


@pytest.fixture
def put(tmp_path, monkeypatch):
    """``put("codex", text)``: the file of a program, in a home of the test."""
    for name, folder in [("CODEX_HOME", ""), ("GH_CONFIG_DIR", ""), ("CLAUDE_CONFIG_DIR", ""), ("CLOUDSDK_CONFIG", "")]:
        monkeypatch.setenv(name, str(tmp_path / f"other{folder}"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)

    def write(program, text):
        path = path_of(program)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize("program", PROGRAMS)
def test_files_of_other_programs_are_read_and_hostile_ones_are_told(put, tmp_path, program):
    put(program, json.dumps(FILES[program]))
    found = read_foreign(program)
    assert found.access or found.refresh
    assert not (program in ("claude", "codex") and found.refresh)
    texts = [
        "",
        "{",
        "[]",
        "null",
        '"a"',
        "[" * 100_000,
        '{"tokens": 7, "claudeAiOauth": [], "access_token": "a\\r\\nb"}',
    ]
    for text in [*texts, '{"type": "external_account"}', '{"type": "\\u001b[31m"}', "github.com: [", "\x00"]:
        put(program, text)
        with pytest.raises(UserError) as caught:
            read_foreign(program)
        assert "\x1b" not in str(caught.value)
    path = path_of(program)
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="cannot be read"):
        read_foreign(program)


@pytest.fixture
def vertex(server, tmp_path):
    """``vertex(path)``: a login of Vertex that is made of what a file holds."""

    def make(path=""):
        service = load_service("vertex", {"token_url": f"{server.url}/token", "hosts": ["127.0.0.1"]})
        login = Login(service, Logins(tmp_path / "logins"), "default", again="")
        return login, Kept(token_url=service.token_url, borrowed="gcloud", path=path)

    return make


async def test_credentials_of_google_go_nowhere_but_where_the_yes_said(server, put, vertex):
    put("gcloud", json.dumps(FILES["gcloud"]))
    login, kept = vertex()
    await login.keep(evolve(kept, token_url="https://oauth2.googleapis.com/token"))
    with pytest.raises(AuthError, match="is now set up to be elsewhere"):
        await login.bearer()
    assert server.service.asked == []


async def test_a_persons_credentials_of_google_are_exchanged_and_stay_where_they_are(server, put, vertex):
    server.rotates, server.secret = False, "secret-1"
    _, refresh = server.minted()
    path = put("gcloud", json.dumps({**FILES["gcloud"], "client_id": server.client_id, "refresh_token": refresh}))
    before = path.read_bytes()
    login, kept = vertex()
    await login.keep(kept)
    first = await login.bearer()
    assert (await login.bearer()).token == first.token
    assert (await login.bearer(first.token)).token != first.token
    assert server.refreshed == 2
    assert path.read_bytes() == before
    held = login._logins.path("vertex", "default").read_text()
    assert refresh not in held
    assert "secret-1" not in held
    assert {refresh, "secret-1"} <= set(login._logins.secrets())
    server.revoke()
    with pytest.raises(AuthError, match="no more"):
        await login.bearer((await login.bearer()).token)
    assert server.wrong == []


async def test_the_key_of_a_service_account_signs(server, put, vertex, tmp_path):
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(65_537, 2048)
    form, kind = serialization.PrivateFormat.PKCS8, serialization.Encoding.PEM
    private = key.private_bytes(kind, form, serialization.NoEncryption()).decode()
    public = key.public_key().public_bytes(kind, serialization.PublicFormat.SubjectPublicKeyInfo)
    server.signer = public.decode()
    said = {"type": "service_account", "client_email": "bot@p.iam.gserviceaccount.com", "private_key": private}
    file = tmp_path / "key.json"
    file.write_text(json.dumps({**said, "private_key_id": "k1", "token_uri": "http://evil.example/token"}))
    login, kept = vertex(str(file))
    await login.keep(kept)
    assert server.is_good((await login.bearer()).token)
    assert server.minted_for == "bot@p.iam.gserviceaccount.com"
    assert private in set(login._logins.secrets())
    file.write_text(
        json.dumps({**said, "private_key": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"})
    )
    with pytest.raises(AuthError, match="cannot sign"):
        await login.bearer((await login.bearer()).token)
    assert server.wrong == []


async def test_a_login_that_was_written_by_an_older_hermes_is_read(tmp_path):
    logins = Logins(tmp_path)
    logins.write("codex", "default", Kept(token_url="https://a", tokens=Tokens(access="abcdefgh")))
    path = logins.path("codex", "default")
    found = json.loads(path.read_text())
    del found["path"], found["over"], found["tokens"]["place"]
    path.write_text(json.dumps(found))
    kept = logins.read("codex", "default")
    assert kept.tokens.access == "abcdefgh"
    for wrong in ({"borrowed": "../x"}, {"path": 7}, {"over": 7}):
        path.write_text(json.dumps({**found, **wrong}))
        with pytest.raises(HermesError, match="cannot be read"):
            logins.read("codex", "default")
