"""Fifty secrets go through turns in every way they can; none is found in what a model, a file or a person sees."""

import json
import sqlite3
from pathlib import Path

import pytest
from attrs import frozen
from engine import MASKERS
from measuring import left
from secrets_to_hide import VENDORS, Rng

from hermes_core.cli.log import start_logging
from hermes_core.errors import AuthError, ToolError
from hermes_core.hooks import hookimpl
from hermes_core.kinds import ToolContext, tool
from hermes_core.testing import Call, Fail
from hermes_core.types import Blob, Failed, Progress, Returned, Text

RNG = Rng("canaries")
KNOWN = [f"Quiet-{RNG.randrange(10**6)}-{word}-harbor" for word in ("amber", "birch", "cedar", "delta", "ember")]
FORMATS = [
    prefix + body(RNG)
    for name, (prefix, body) in VENDORS.items()
    if name not in ("mailchimp", "twilio", "telegram", "terraform", "discord", "jwt", "wif", "vault-old", "paypal")
][:45]
CANARIES = [*KNOWN, *FORMATS]


@frozen
class Words:
    text: str = ""


def lines() -> str:
    return "\n".join(f"export SERVICE_{n}_TOKEN={secret}" for n, secret in enumerate(CANARIES))


@tool(effects=[], touches=lambda _params: ())
async def env(params: Words) -> str:
    """Print the environment."""
    return lines()


@tool(effects=[], touches=lambda _params: ())
async def long(params: Words) -> str:
    """Print more than a model may see."""
    return "filler without anything in it\n" * 4_000 + lines() + "\nmore filler\n" * 4_000


@tool(effects=[], touches=lambda _params: ())
async def crash(params: Words) -> str:
    """Fall over."""
    raise RuntimeError(f"could not reach https://bob:{KNOWN[0]}@db with {FORMATS[3]}")


@tool(effects=[], touches=lambda _params: ())
async def refuse(params: Words) -> str:
    """Say no."""
    raise ToolError(f"login with {KNOWN[1]} failed", hint=f"is {FORMATS[4]} valid?")


@tool(effects=[], touches=lambda _params: ())
async def trickle(ctx: ToolContext, params: Words) -> str:
    """Show output as it comes."""
    for letter in lines():
        ctx.progress(letter)
    return "done"


@pytest.fixture(autouse=True)
def installed(request: pytest.FixtureRequest) -> None:
    """The plugin, wherever there is a kernel."""
    if "hermes" in request.fixturenames:
        request.getfixturevalue("hermes").tmp_plugin("hermes_tool_redaction")


def files(folder: Path) -> str:
    return "\n".join(
        path.read_bytes().decode("utf-8", "replace")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".env"
    )


def found(text: str) -> list[str]:
    # Six hexadecimal digits of a secret are in a random id every few hundred runs.
    return [secret for secret in CANARIES if left(secret, text, 10)]


def test_there_are_fifty() -> None:
    assert len(set(CANARIES)) == 50
    assert len(found(lines())) == 50


async def test_no_canary_is_left_anywhere(hermes, scripted, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    (home / ".env").write_text("".join(f"CANARY_{n}={value}\n" for n, value in enumerate(KNOWN)))
    names = ["env", "long", "crash", "refuse", "trickle"]
    steps = [step for name in names for step in (Call(name), f"did {name}")]
    error = AuthError(f"wrong key {FORMATS[5]} and {KNOWN[2]}", hint=f"try {FORMATS[6]}")
    provider = scripted(*steps, Fail(error))
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin(env, long, crash, refuse, trickle)
    events = []
    runtime = hermes.runtime
    start_logging(runtime.home, runtime.settings)
    for name in (*names, "fail"):
        events += [event async for event in hermes.turn(f"run {name}", session="canary")]
    shown = "".join(
        part.text for e in events if isinstance(e, Returned) for part in e.result.parts if isinstance(part, Text | Blob)
    )
    streamed = "".join(e.text for e in events if isinstance(e, Progress))
    told = "".join(e.text + e.hint for e in events if isinstance(e, Failed))
    prompts = json.dumps([str(request) for request in provider.requests], ensure_ascii=False)
    await hermes.close()
    rows = "\n".join(str(row) for row in sqlite3.connect(home / "state.db").execute("select body from messages"))
    assert "SERVICE_49_TOKEN" in shown
    assert "SERVICE_49_TOKEN" in streamed
    assert "wrong key" in told
    for where, text in (
        ("results", shown),
        ("stream", streamed),
        ("errors", told),
        ("prompts", prompts),
        ("rows", rows),
    ):
        assert found(text) == [], where
    assert found(files(home)) == []


async def test_what_the_person_typed_reaches_the_model_and_no_file(hermes, scripted, tmp_path: Path) -> None:
    secret = FORMATS[7]
    provider = scripted("noted")
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin("hermes_tool_transcripts")
    await hermes.run(f"log in with {secret}")
    assert secret in str(provider.requests[0].messages[-1])
    await hermes.close()
    transcripts = files(tmp_path / "home" / "sessions")
    assert "log in with" in transcripts
    assert not left(secret, transcripts)


async def test_a_mask_is_never_written_back(hermes, scripted) -> None:
    written: list[str] = []

    @tool(effects=[], touches=lambda _params: ())
    async def write(params: Words) -> str:
        """Write a file."""
        written.append(params.text)
        return "ok"

    hermes.tmp_plugin(scripted(Call("write", {"text": "TOKEN=⟦secret ghp_a1…b2c3⟧"}), "it was refused"))
    hermes.tmp_plugin(write)
    events = [event async for event in hermes.turn("copy it")]
    (result,) = [e.result for e in events if isinstance(e, Returned)]
    assert result.failed
    assert "stands for a secret you cannot see" in result.parts[0].text
    assert written == []


async def test_masking_can_be_switched_off_before_the_start(hermes, scripted) -> None:
    hermes.configure({"security.redact_secrets": False})
    hermes.tmp_plugin(scripted(Call("env"), "done"))
    hermes.tmp_plugin(env)
    events = [event async for event in hermes.turn("go")]
    (result,) = [e.result for e in events if isinstance(e, Returned)]
    assert FORMATS[0] in result.parts[0].text


async def test_faults_hold_no_secret(hermes, scripted) -> None:
    @hookimpl
    async def post_tool_call() -> None:
        raise RuntimeError(f"password={KNOWN[3]}9 and {FORMATS[8]}")

    hermes.tmp_plugin(scripted(Call("env"), "done"))
    hermes.tmp_plugin(env, post_tool_call)
    hermes._options["strict"] = False
    await hermes.run("go")
    assert hermes.runtime.dispatch.faults
    assert found(str(hermes.runtime.dispatch.faults)) == []


@pytest.mark.parametrize("pii", [False, True])
def test_log_records(pii: bool, tmp_path: Path) -> None:
    import logging

    from hermes_core.config.paths import Home
    from hermes_core.config.settings import load_settings

    home = Home(tmp_path)
    home.create()
    settings = load_settings(home, overrides={"privacy.redact_pii": pii})
    settings.masks.use(lambda: MASKERS)
    start_logging(home, settings)
    log = logging.getLogger("hermes_core.canary")
    try:
        raise ValueError(f"boom {FORMATS[9]}")
    except ValueError:
        log.exception(
            "for bob@example.org: %s",
            FORMATS[10],
            extra={"fields": {"api_key": "abcd1234efgh5678", "n": 3, "l": [FORMATS[11]]}},
        )
    (line,) = (home.logs / "hermes.log").read_text().splitlines()
    row = json.loads(line)
    assert row["n"] == 3
    assert row["api_key"] == "***"
    assert "ValueError: boom" in row["traceback"]
    assert found(line) == []
    assert ("bob@example.org" in line) is not pii
