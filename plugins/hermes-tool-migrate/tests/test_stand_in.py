"""Hermes where a program starts Hermes Agent: its settings by our names, and its modules."""

from pathlib import Path

import pytest
import yaml

from hermes_core.errors import UserError
from hermes_tool_migrate.aliases import spelled_here
from hermes_tool_migrate.stand_in import acp, install, taken_over

THEIRS = {
    "model": {"provider": "openai", "default": "m", "max_tokens": 256},
    "approvals": {"mode": "off"},
    "auxiliary": {"title_generation": {"enabled": False}},
    "providers": {
        "openai": {
            "api": "http://127.0.0.1:1/v1", "api_key": "s", "discover_models": False,
            "transport": "${HERMES_INTERCEPT_TRANSPORT}",
        },
    },
}  # fmt: skip
OURS = {
    "model": {"provider": "openai", "default": "m2", "max_tokens": 256},
    "auxiliary": {},
    "providers": {"openai": {"api_key": "s", "base_url": "http://127.0.0.1:1/v1", "protocol": "chat"}},
    "policy": {"mode": "off"},
}


def test_its_names_are_brought_to_ours_and_what_is_none_of_them_stays() -> None:
    environ = {"HERMES_INTERCEPT_TRANSPORT": "chat_completions", "HERMES_INFERENCE_MODEL": "m2"}
    assert spelled_here(THEIRS, environ) == OURS
    assert spelled_here(OURS, environ) == OURS, "a second time nothing changes"
    more = {**THEIRS, "approvals": {"mode": False, "cron": "deny"}, "wings": 2}
    assert spelled_here(more, environ)["approvals"] == {"cron": "deny"}
    assert spelled_here(more, environ)["wings"] == 2
    providers = ({"transport": "pigeon"}, {"discover_models": "no"})
    for wrong in (*({"approvals": {"mode": one}} for one in ("of", 0)), *({"providers": {"x": p}} for p in providers)):
        with pytest.raises(UserError):
            spelled_here(wrong, {})


def test_a_home_is_taken_over_once_and_what_was_there_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_INTERCEPT_TRANSPORT", "chat_completions")
    monkeypatch.setenv("HERMES_INFERENCE_MODEL", "m2")
    said = yaml.safe_dump(THEIRS)
    (tmp_path / "config.yaml").write_text(said)
    (tmp_path / ".no-bundled-skills").touch()
    for _ in range(2):
        taken_over(tmp_path)
        made = yaml.safe_load((tmp_path / "config.yaml").read_text())
        assert made.pop("tools")["skills"]["disabled"]
        assert made == OURS
        assert (tmp_path / "data" / "tool-migrate" / "hermes-agent" / "config.yaml").read_text() == said
    assert (tmp_path / "config.yaml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "said",
    [
        b"policy: strict\napprovals: {mode: 'off'}\n",
        b"tools: [a]\nproviders: {x: {api: 'http://a'}}\n",
        b"tools: {skills: [a]}\nproviders: {x: {api: 'http://a'}}\n",
        b"model: \xff\xfe\n",
        b"a: " + b"[" * 5000,
    ],
)
def test_what_is_of_no_shape_is_left_for_the_program_to_refuse(tmp_path: Path, said: bytes) -> None:
    (tmp_path / "config.yaml").write_bytes(said)
    (tmp_path / ".no-bundled-skills").touch()
    taken_over(tmp_path)
    made = (tmp_path / "config.yaml").read_bytes()
    assert made == said or yaml.safe_load(made)["tools"] == yaml.safe_load(said)["tools"]


def test_modules_of_another_program_are_left_alone(tmp_path: Path) -> None:
    install(tmp_path, ["mcp"])
    assert "acp(('mcp',))" in (tmp_path / "acp_adapter" / "entry.py").read_text()
    install(tmp_path)
    (tmp_path / "hermes_cli" / "models.py").write_text("theirs")
    with pytest.raises(UserError, match="another program's"):
        install(tmp_path)
    assert (tmp_path / "hermes_cli" / "models.py").read_text() == "theirs"


def test_what_cannot_be_read_is_told_and_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.yaml").write_text("approvals: {mode: of}")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        acp()
    assert ended.value.code == 2
    assert "approvals.mode is 'of'" in capsys.readouterr().err
