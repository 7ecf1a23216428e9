"""What each command may not import. Static graphs cannot see deferral, so this looks at ``sys.modules``."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LIGHT = "pluggy attr attrs cattrs sqlalchemy alembic asyncio yaml stevedore sqlite3 httpx2 importlib.metadata tomllib"
WARM = "cattrs sqlalchemy alembic stevedore yaml tomllib importlib.metadata openai prompt_toolkit rich pytest"
PROBE = """
import os, sys
from hermes_core import __main__
os._exit = lambda status: (_ for _ in ()).throw(SystemExit(status))
sys.argv = ["hermes", *sys.argv[1:]]
try:
    __main__.main()
except SystemExit:
    pass
sys.stdout.flush()
print("\\nMODULES", *sorted(sys.modules))
"""


class Start:
    """What commands leave behind in a home whose caches are warm; each command is run once."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._seen: dict[tuple[str, ...], set[str]] = {}
        self.modules("-z", "hello")  # fills the caches
        self._seen.clear()

    def modules(self, *words: str) -> set[str]:
        """The modules that a process has imported when it ends."""
        if words not in self._seen:
            env = {**os.environ, "HERMES_HOME": str(self.home), "HOME": str(self.home)}
            command = [sys.executable, "-c", PROBE, *words]
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=True, cwd=self.home)
            line = next(x for x in done.stdout.splitlines() if x.startswith("MODULES "))
            self._seen[words] = set(line.split()[1:])
        return self._seen[words]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Start:
    return Start(tmp_path_factory.mktemp("home"))


def forbidden(loaded: set[str], names: str) -> set[str]:
    return {m for m in loaded for name in names.split() if m == name or m.startswith(f"{name}.")}


LIGHT_COMMANDS = [["--version"], ["--help"], ["plugins", "list"], ["completion", "bash"]]


@pytest.mark.parametrize("words", LIGHT_COMMANDS, ids=" ".join)
@pytest.mark.few(2)
def test_light_commands_import_next_to_nothing(start: Start, words: list[str]) -> None:
    loaded = start.modules(*words)
    assert not forbidden(loaded, LIGHT)
    light = ("hermes_core", "hermes_front", "hermes_tables")
    patterns = {"hermes_shapes", "hermes_shapes.patterns"}  # which stand on nothing
    assert not {m for m in loaded - patterns if m.startswith("hermes_") and not m.startswith(light)}


def test_the_version_needs_not_even_click(start: Start) -> None:
    assert not forbidden(start.modules("--version"), "click re typing json")


def test_a_one_shot_imports_only_the_hot_path(start: Start) -> None:
    loaded = start.modules("-z", "hello")
    assert not forbidden(loaded, WARM)
    assert "hermes_core.store.journal" in loaded  # the probe did see a whole turn


def test_a_service_is_asked_without_what_other_event_loops_need(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(
        "model: {provider: acme, default: m}\nproviders: {acme: {base_url: 'http://127.0.0.1:9', api_key: x}}\n"
        "agent: {model_tries: 1}\n"
    )
    loaded = Start(tmp_path).modules("-z", "hello")
    assert {"httpx2", "h11"} <= loaded, "and the probe saw it asked"
    assert not forbidden(loaded, "anyio sniffio trio httpcore2")


def test_sources_of_secrets_cost_nothing_until_one_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_API_KEY", "of-the-environment")
    (tmp_path / "config.yaml").write_text(
        "secrets: {env: {ACME_API_KEY: 'command:acme', OTHER_API_KEY: 'command:x'}, bulk: [command]}\n"
        "model: {provider: acme, default: m}\n"
        "providers: {acme: {base_url: 'http://127.0.0.1:9', api_key: 'env:ACME_API_KEY'}}\nagent: {model_tries: 1}\n"
    )
    start = Start(tmp_path)
    for words in (("--version",), ("plugins", "list"), ("-z", "hello")):
        assert "hermes_tool_secrets" not in start.modules(*words)
    monkeypatch.delenv("ACME_API_KEY")
    assert "hermes_tool_secrets" in start.modules("-z", "hello there"), "and the probe sees when one is"


def test_without_sources_not_even_their_kernel_half_is_imported(start: Start) -> None:
    assert "hermes_core.plugins.secret_sources" not in start.modules("-z", "hello")


def test_what_tools_do_is_imported_when_one_is_called(start: Start) -> None:
    loaded = start.modules("-z", "hello")
    kernel = "hermes_core.agent.tools hermes_core.agent.calls hermes_core.agent.policy.judge"
    tools = "hermes_tool_files.searching hermes_tool_files.matching hermes_tool_terminal.shellwords"
    tools += " hermes_tool_delegate.child hermes_tool_recall.search hermes_tool_kit.fetching"
    assert forbidden(loaded, f"{kernel} {tools}") == set()


def test_a_one_shot_loads_no_platform(start: Start) -> None:
    loaded = start.modules("-z", "hello")
    talks = "hermes_platform_cli"  # has the command; of its platform and console nothing is loaded
    commands = {f"{talks}.commands.{name}" for name in ("chat", "leaving")}
    shown = {"hermes_platform_kit", *(f"hermes_platform_kit.{name}" for name in ("answers", "one_turn"))}
    parts = {f"{talks}.commands", *commands, f"{talks}.config", f"{talks}.remembers", *shown}
    assert {m for m in loaded if m.startswith("hermes_platform_")} == {talks, *parts}
    assert not forbidden(loaded, "prompt_toolkit rich pygments markdown_it")


def test_settings_of_a_warm_home_need_no_yaml(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("agent: {max_calls: 5}\n")
    loaded = Start(tmp_path).modules("config", "get", "agent.max_calls")
    assert not forbidden(loaded, "yaml cattrs sqlalchemy")
