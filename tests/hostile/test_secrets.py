"""Fifty secrets of which none is seen again: not by a tool, a log, a transcript, a row, or another request."""

import asyncio
import json
import logging

import pytest
from hostile_clock import JumpingLoop
from hostile_mutants import http
from hostile_play import bench_of, play
from hostile_server import Server

from hermes_core.cli.log import start_logging
from hermes_core.testing.protocol_replies import Said, SaidCall, events_of, stream_of
from hermes_core.types import Failed, Returned

KEY = "sk-hostile-0123456789"  # the one that bench_of gives
NAMES = [
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "GROQ_API_KEY", "HF_TOKEN",
    "GITHUB_TOKEN", "GH_PAT", "GITLAB_PAT", "SLACK_BOT_TOKEN", "SLACK_WEBHOOK_URL", "TELEGRAM_BOT_TOKEN",
    "DISCORD_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_STORAGE_CONNECTION_STRING",
    "AZURE_CLIENT_SECRET", "GOOGLE_CREDENTIALS", "GCP_SERVICE_ACCOUNT", "STRIPE_SECRET_KEY", "TWILIO_AUTH_TOKEN",
    "SENDGRID_API_KEY", "NPM_TOKEN", "PYPI_TOKEN", "DOCKER_PASSWORD", "SMTP_PASS", "DB_PASS", "DB_PW", "PGPASSWORD",
    "MYSQL_PWD", "REDIS_PASSWORD", "MONGO_PASSWORD", "SENTRY_DSN", "DATADOG_API_KEY", "NEW_RELIC_LICENSE_KEY",
    "VAULT_TOKEN", "KUBE_TOKEN", "SSH_KEY_PASSPHRASE", "GPG_PASSPHRASE", "JWT_SECRET", "SIGNING_SALT",
    "COOKIE_SECRET", "SESSION_SECRET", "BASIC_AUTH", "BEARER", "FERNET_KEY", "HOME_ASSISTANT_TOKEN",
]  # fmt: skip
BY_VALUE = {
    "DATABASE_URL": "postgres://me:{}@db/app",
    "CACHE_ADDRESS": "redis://:{}@cache:6379/0",
    "SOMETHING_ELSE": "ghp_{}0123456789012345",
}
ECHOES = [
    (401, '{"error": {"message": "Incorrect API key provided: KEY."}}'),
    (403, '{"error": "Authorization: Bearer KEY is not allowed"}'),
    (400, '{"detail": "bad header x-api-key KEY"}'),
    (500, "<html><title>KEY</title>"),
    (503, "upstream said no to KEY"),
    (200, "this is not JSON, but it has KEY in it"),
    (200, '{"error": {"message": "KEY"}}'),
    (200, 'data: {"error": {"message": "no KEY"}}\n\n'),
    (200, "data: {broken KEY\n\n"),
    (302, ""),
]


def called(command: str) -> bytes:
    call = SaidCall("terminal", json.dumps({"command": command}), "c1")
    return http(stream_of("chat", events_of("chat", Said(calls=(call,)))))


def said(text: str) -> bytes:
    return http(stream_of("chat", events_of("chat", Said(pieces=(text,)))))


class Keeping(Server):
    """Keeps what it was asked, without the header that the key belongs into."""

    kept: bytes = b""

    async def _one(self, reader, writer):
        read = reader.readexactly

        async def keeping(count):
            data = await read(count)
            self.kept += data
            return data

        reader.readexactly = keeping
        try:
            return await super()._one(reader, writer)
        finally:
            reader.readexactly = read


@pytest.fixture
def canaries(monkeypatch) -> dict[str, str]:
    """Fifty secrets in the environment, by the names people give them."""
    made = {name: f"canary-{number:02d}-5f1e8b" for number, name in enumerate((*NAMES, *BY_VALUE))}
    for name, value in made.items():
        monkeypatch.setenv(name, BY_VALUE.get(name, "{}").format(value))
    return made


def test_no_secret_is_seen_again(tmp_path, canaries, monkeypatch):
    assert len(canaries) == 50
    home = tmp_path / "home"
    home.mkdir()
    env_file = home / ".env"
    env_file.write_text("MATRIX_PASSWORD=canary-file-1f00\nPLAIN_NAME=canary-file-2f00\n")
    env_file.chmod(0o600)
    for name in ("hermes_core", "hermes"):
        logger = logging.getLogger(name)
        monkeypatch.setattr(logger, "handlers", [])
        monkeypatch.setattr(logger, "propagate", logger.propagate)
    shown: list[str] = []

    async def everything() -> None:
        server = Keeping()
        listening = await server.start()
        server.good = [said("done")]
        bench = bench_of("chat", home, server, **{"policy.mode": "off", "terminal.backend": "local"})
        work = tmp_path / "work"
        work.mkdir(exist_ok=True)
        bench.configure({"terminal.cwd": str(work), "backends.local.wall": "none"})
        bench.tmp_plugin("hermes_tool_terminal")
        bench.tmp_plugin("hermes_backend_local")
        bench.tmp_plugin("hermes_tool_redaction")
        bench.tmp_plugin("hermes_tool_transcripts")
        start_logging(bench.runtime.home, bench.runtime.settings)
        server.script.append([called("env; set; export -p; printenv; cat /proc/self/environ")])
        events = await play(bench, "what is set?", "tools")
        result = next(e for e in events if isinstance(e, Returned)).result
        assert "PATH=" in result.parts[0].text
        for number, (status, body) in enumerate(ECHOES):
            text = body.replace("KEY", KEY).encode()
            server.script.extend([[http(text, "text/plain", f"{status} X", location=f"http://x/?{KEY}")]] * 9)
            events = await play(bench, "hello", f"echo-{number}")
            server.script.clear()
            assert any(isinstance(e, Failed) for e in events), body
            shown.append(str(events))
        logging.getLogger("hermes_core.test").error("it broke with %s and %s", KEY, canaries["VAULT_TOKEN"])
        shown.append(str(events))
        await bench.close()
        listening.close()
        await server.close()
        shown.append(server.kept.decode())

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        runner.run(everything())
    files = [file for file in sorted(home.rglob("*")) if file.is_file() and file != env_file]
    shown += [f"{file}: {file.read_bytes()!r}" for file in files]
    assert any(file.name == "hermes.log" for file in files)
    for secret in (KEY, "canary-file-", *canaries.values()):
        for text in shown:
            at = text.find(secret)
            assert at < 0, text[max(0, at - 150) : at + 60]
