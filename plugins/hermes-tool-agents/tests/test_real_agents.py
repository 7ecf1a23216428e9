"""The agents that people have: opencode, Codex, Gemini and Claude Code, with a scripted model as their service."""

import json
import os
import pwd
from pathlib import Path
from typing import Any

import pytest

from hermes_core.testing.model_service import model_service
from hermes_core.testing.protocol_replies import Said, events_of, stream_of
from hermes_tool_agents.config import AgentSettings
from hermes_tool_agents.jobs import Working, at_work

from .test_agents import House

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]
CACHE = Path(pwd.getpwuid(os.getuid()).pw_dir, ".cache", "hermes-tests", "acp")
THERE = Path(os.environ.get("HERMES_ACP", CACHE))
PROGRAMS = Path(os.environ.get("HERMES_AGENTS", THERE / "agents")) / "node_modules" / ".bin"
HEAD = b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n\r\n"
SAID = "Made by its model."


def reply(protocol: str) -> bytes:
    """What the service of an agent answers."""
    if protocol != "gemini":
        return HEAD + stream_of(protocol, events_of(protocol, Said(pieces=[SAID])))
    content = {"role": "model", "parts": [{"text": SAID}]}
    counts = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    told = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": counts}
    return HEAD + b"data: " + json.dumps(told).encode() + b"\r\n\r\n"


def settings(name: str, home: Path, url: str) -> tuple[str, AgentSettings]:
    """The protocol that an agent speaks with its service, and how it is set up to use this one."""
    root, path = url.removesuffix("/v1"), f"{THERE}/python/bin:{os.environ['PATH']}"
    env = {"HOME": str(home), "TMPDIR": str(home), "PATH": path}
    if name == "opencode":
        options = {"baseURL": url, "apiKey": "x"}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {}}}
        config = {"provider": {"here": provider}, "model": "here/m", "small_model": "here/m"}
        env |= {"OPENCODE_CONFIG_CONTENT": json.dumps(config), "OPENCODE_DISABLE_MODELS_FETCH": "1"}
        return "chat", AgentSettings(command=str(PROGRAMS / "opencode"), args=["acp"], env=env)
    if name == "codex":
        place = f'[model_providers.here]\nname = "here"\nbase_url = "{url}"\nenv_key = "CODEX_API_KEY"\n'
        (home / ".codex").mkdir()
        (home / ".codex" / "config.toml").write_text(f'model = "m"\nmodel_provider = "here"\n{place}')
        return "responses", AgentSettings(command=str(PROGRAMS / "codex-acp"), env={**env, "CODEX_API_KEY": "x"})
    if name == "gemini":
        env |= {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": root, "GEMINI_MODEL": "m"}
        return "gemini", AgentSettings(command=str(PROGRAMS / "gemini"), args=["--experimental-acp"], env=env)
    env |= {"ANTHROPIC_API_KEY": "x", "ANTHROPIC_BASE_URL": root, "ANTHROPIC_MODEL": "m", "IS_SANDBOX": "1"}
    env |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    return "messages", AgentSettings(command=str(PROGRAMS / "claude-code-acp"), env=env)


@pytest.mark.parametrize("name", ["opencode", "codex", "gemini", "claude"])
async def test_it_does_a_task_and_goes_on_with_the_next(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody says when its session is written down; a machine that does more than this is slow.
    monkeypatch.setattr("hermes_tool_agents.child.SETTLING", 30.0)
    if not PROGRAMS.is_dir():
        pytest.skip(f"{PROGRAMS} is not there: see .ci/run")
    home = tmp_path / "its-home"
    home.mkdir()
    async with model_service("/v1") as model:
        protocol, agent = settings(name, home, model.url)
        model.always = reply(protocol)
        here: Any = House(tmp_path, seconds=100.0)
        here.ctx.config.known[name] = agent
        for task in ("First say who made it.", "Then say it again."):
            assert (await here.have(task, name)).endswith(SAID)
        last = next(one.raw.decode() for one in reversed(model.asked) if b"again" in one.raw)
        assert "First say who made it." in last, "the second task is said in the session of the first"
    assert await Working(at_work(here.ctx.state)).running(here.calls[0].session) == []
    assert here.alive == []
