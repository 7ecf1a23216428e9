"""Settings load as written, or say everything that is wrong with them at once."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hermes_core.config.paths import Home
from hermes_core.config.schema import Config, ModelSettings
from hermes_core.config.secrets import Secrets
from hermes_core.config.settings import Settings, config_problems, load_settings
from hermes_core.config.spellings import split_model
from hermes_core.errors import ConfigError, UserError
from hermes_core.options import Secret, gt, option, settings
from hermes_core.plugins.consent import Consent
from hermes_core.plugins.index import Index


@settings
class Poll:
    """A plugin's section."""

    token: Secret = option("The token.", default=Secret("env:TOKEN"))
    poll_seconds: float = option("How long.", default=25.0, validator=gt(0))
    mode: Literal["poll", "webhook"] = option("How.", default="poll")
    chats: list[int] = option("Which.", factory=list)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def load(home: Home, text: str | bytes, **environ: str) -> Settings:
    home.config_file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_settings(home, environ=environ)


def problems(home: Home, text: str | bytes) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(home, text)
    return list(caught.value.problems)


def test_a_home_without_a_file_has_the_defaults(home: Home) -> None:
    config = load_settings(home).config
    assert config == Config()
    assert (config.agent.max_calls, config.policy.mode, config.memory.provider) == (90, "ask", "files")
    assert list(home.root.iterdir()) == []


def test_the_one_line_config_loads_as_written(home: Home) -> None:
    line = 'model: {provider: custom, base_url: "http://127.0.0.1:8199/v1", api_key: x, default: tools-20}\n'
    loaded = load(home, line)
    assert loaded.config.model == ModelSettings(
        provider="custom", base_url="http://127.0.0.1:8199/v1", api_key=Secret("x"), default="tools-20"
    )
    endpoint = loaded.endpoint("custom")
    assert endpoint is not None
    assert (endpoint.base_url, endpoint.api_key) == ("http://127.0.0.1:8199/v1", "x")
    assert loaded.endpoint("openai") is None


@pytest.mark.parametrize(
    ("written", "provider", "name", "protocol"),
    [
        ("model: gpt-5", "", "gpt-5", ""),
        ("model: llama3:8b", "", "llama3:8b", ""),
        ("model: custom:llama3:8b", "custom", "llama3:8b", ""),
        ("providers: {acme: {}}\nmodel: acme:m", "acme", "m", ""),
        ("model: {model: m, api_mode: codex_responses}", "", "m", "responses"),
    ],
)
def test_other_spellings_of_the_model_are_understood(
    home: Home, written: str, provider: str, name: str, protocol: str
) -> None:
    model = load(home, written).config.model
    assert (model.provider, model.default, model.protocol) == (provider, name, protocol)


def test_a_name_with_a_colon_belongs_to_a_known_provider_or_to_nobody() -> None:
    assert split_model("openai:gpt-5", {"openai"}) == ("openai", "gpt-5")
    assert split_model("llama3:8b", {"openai"}) == ("", "llama3:8b")


def test_all_problems_are_said_at_once_each_with_its_line(home: Home) -> None:
    text = """\
model: {temprature: 3, max_tokens: "100", temperature: -1, api_key: 12345, effort: hgh}
agnet: 1
agent:
  max_calls: 0
  disabled_tools: files
  identity: no
  tool_workers: true
platfroms: {}
toolsets: [a, 1]
providers: {a: {headers: {x: 1}}, b: 3}
platforms: 3
tools: {a: 3}
store: {durability: fast}
version: 2
"""
    assert problems(home, text) == [
        "config.yaml:1 model.api_key: must be text, not a whole number (put it in quotes)",
        "config.yaml:1 model.max_tokens: must be a whole number, not text (take the quotes away)",
        "config.yaml:1 model.temperature: must be at least 0, not -1.0",
        (
            'config.yaml:1 model.effort: must be one of "", none, minimal, low, medium, high, xhigh, max; '
            "did you mean high?"
        ),
        "config.yaml:1 model.temprature: no such setting; did you mean temperature?",
        "config.yaml:2 agnet: no such setting; did you mean agent?",
        "config.yaml:4 agent.max_calls: must be at least 1, not 0",
        "config.yaml:5 agent.disabled_tools: must be a list, not text",
        (
            "config.yaml:6 agent.identity: must be text, not false "
            "(YAML reads a bare yes, no, on and off so; put it in quotes)"
        ),
        "config.yaml:7 agent.tool_workers: must be a whole number, not true",
        "config.yaml:8 platfroms: no such setting; did you mean platforms?",
        "config.yaml:9 toolsets[1]: must be text, not 1 (put it in quotes)",
        "config.yaml:10 providers.a.headers.x: must be text, not a whole number (put it in quotes)",
        "config.yaml:10 providers.b: must be a section, not 3",
        "config.yaml:11 platforms: must be a section, not 3",
        "config.yaml:12 tools.a: must be a section, not 3",
        "config.yaml:13 store.durability: must be one of normal, full",
        "config.yaml:14 version: this Hermes reads version 1 of the file, not 2",
    ]


def test_a_name_like_no_other_is_answered_with_what_there_is(home: Home) -> None:
    said = "config.yaml:1 memory.colour: no such setting; there is provider"
    assert problems(home, "memory: {colour: red}") == [said]


def test_kernel_and_plugin_problems_are_said_together(home: Home) -> None:
    home.config_file.write_text("platforms: {x: {mode: 3}}\nagnet: 1\n")
    said = config_problems(home, {"platforms.x": Poll})
    assert [line.split(":", 2)[1] for line in said] == ["1 platforms.x.mode", "2 agnet"]


def test_an_empty_section_and_a_bare_off_are_fine(home: Home) -> None:
    config = load(home, "agent:\npolicy:\n  mode: off\nplatforms:\ntools: {x: }\n").config
    assert (config.agent, config.policy.mode) == (Config().agent, "off")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [1, 2\nb: 3", "config.yaml:2:2: did not find expected ',' or ']' while parsing a flow sequence"),
        ("a: b: c", "config.yaml:1:5: mapping values are not allowed in this context"),
        ("agent:\n\tmax_calls: 1", "config.yaml:2:1: a tab is used for indentation; YAML wants spaces"),
        ("toolsets: []\nagent: {}\ntoolsets: [a]", "config.yaml:3 toolsets: is given twice, first in line 1"),
        ("- a", "config.yaml:1: must hold settings as `name: value`, one a line"),
        ("\n\nhello", "config.yaml:3: must hold settings as `name: value`, one a line"),
        (b"agent:\n  identity: caf\xe9\n", "config.yaml:2: is not UTF-8 text (byte 0xe9)"),
        ("a: 1".encode("utf-16"), "config.yaml:1: is UTF-16; save it as UTF-8"),
        (
            "x: !!python/name:os.system",
            "config.yaml:1: the tag tag:yaml.org,2002:python/name:os.system has no meaning here",
        ),
        ("a: &a [*a]", "config.yaml:1:4: contains itself"),
        ("toolsets: [a\x07]", "config.yaml:1: control characters are not allowed"),
    ],
)
def test_a_broken_file_is_one_line_with_place_and_cause(home: Home, text: str | bytes, said: str) -> None:
    assert problems(home, text) == [said]


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", b"\xef\xbb\xbftoolsets: []\n", "{}"])
def test_an_empty_file_and_a_byte_order_mark_are_fine(home: Home, text: str | bytes) -> None:
    assert load(home, text).config == Config()


def test_deep_and_multiplying_files_are_refused_without_a_crash(home: Home) -> None:
    assert problems(home, "a: " + "[" * 20_000)
    assert "too deeply nested" in problems(home, f"agent: {{identity: {'[' * 400}{']' * 400}}}")[0]
    assert "too deeply nested" in problems(home, f"x: {'[' * 60_000}")[0]  # libyaml itself would end the process
    bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
    bomb += "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 10)}]\n" for i in range(8))
    assert "aliases multiply" in problems(home, bomb)[0]


def test_a_folder_in_the_place_of_the_file_or_a_file_as_home_is_said_so(home: Home) -> None:
    home.config_file.mkdir()
    with pytest.raises(UserError, match="it is a folder"):
        load_settings(home)
    home.env_file.touch()
    with pytest.raises(UserError, match="a file stands where a folder is needed"):
        load_settings(Home(home.env_file))


def test_an_unreadable_file_is_said_so(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.config_file.touch()

    def refuse(path: str, *_: int) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("hermes_core.config.files.os.open", refuse)  # as root no file is unreadable
    with pytest.raises(UserError, match="permission denied"):
        load_settings(home)


@hypothesis_settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(max_size=40),
        st.text(alphabet="ab:1 \n\t-[]{}&*!|>%@`'\"#?,~<=.\\${}x\x85\u2028é", max_size=40).map(str.encode),
        st.lists(
            st.sampled_from(
                ["model", "agent", "tools", ": ", "\n", "  ", "off", "3", "{", "}", "[", "]", "- ", "&a ", "*a"]
            ),
            max_size=12,
        ).map(lambda parts: "".join(parts).encode()),
    )
)
def test_whatever_is_in_the_file_there_are_settings_or_a_plain_message(home: Home, data: bytes) -> None:
    home.config_file.write_bytes(data)
    said: tuple[str, ...] = ()
    try:
        load_settings(home, environ={})
    except ConfigError as error:
        said = error.problems or ("nothing said",)
    assert all(line.startswith("config.yaml:") for line in said)


def test_no_secret_is_shown_by_printing_settings_or_by_a_problem(home: Home) -> None:
    text = """\
model: {api_key: hush-1}
providers: {a: {api_key: hush-2, headers: {Authorization: hush-3}}}
store: {url: "postgresql://me:hush-4@db/h"}
"""
    loaded = load(home, text)
    assert "hush" not in repr(loaded.config)
    assert "hush" not in repr(loaded.endpoint("a"))
    assert not [line for line in problems(home, "agent: hush-5\ntoolsets: hush-6\nmodel: [hush-7]") if "hush" in line]


# --- layers, sections, endpoints ----------------------------------------------------------------------------------


def test_layers_lie_in_order(home: Home) -> None:
    home.config_file.write_text("model: {default: file}\nagent: {max_calls: 5}\ntools: {shell: {enabled: true}}\n")
    loaded = load_settings(
        home,
        defaults={"model.default": "built", "model.effort": "low", "toolsets": ["files"]},
        overrides={"model.default": "flag"},
        locked={"tools.shell.enabled": False},
    )
    model = loaded.config.model
    assert (model.default, model.effort, loaded.config.agent.max_calls) == ("flag", "low", 5)
    assert loaded.config.toolsets == ["files"]
    assert loaded.raw["tools"]["shell"] == {"enabled": False}
    with pytest.raises(ConfigError, match=r"^\(not from the file\) agent\.max_calls: must be at least 1"):
        load_settings(home, overrides={"agent.max_calls": 0})


def test_an_override_reaches_into_a_bare_model_name(home: Home) -> None:
    home.config_file.write_text("model: custom:m1\n")
    model = load_settings(home, overrides={"model.effort": "low"}).config.model
    assert (model.provider, model.default, model.effort) == ("custom", "m1", "low")


def test_a_plugins_section_is_checked_when_it_is_asked_for(home: Home) -> None:
    text = "platforms:\n  telegram:\n    poll_secs: 3\n    mode: pol\n    chats: [1, x]\n    poll_seconds: 0\n"
    loaded = load(home, text)
    with pytest.raises(ConfigError) as caught:
        loaded.section("platforms.telegram", Poll)
    said = [
        "config.yaml:3 platforms.telegram.poll_secs: no such setting; did you mean poll_seconds?",
        "config.yaml:4 platforms.telegram.mode: must be one of poll, webhook; did you mean poll?",
        "config.yaml:5 platforms.telegram.chats[1]: must be a whole number, not text",
        "config.yaml:6 platforms.telegram.poll_seconds: must be more than 0, not 0.0",
    ]
    assert list(caught.value.problems) == said
    assert config_problems(home, {"platforms.telegram": Poll, "platforms.x": Poll}) == said
    assert loaded.section("platforms.other", Poll) == Poll()


def test_sections_of_absent_plugins_are_kept_and_named(home: Home) -> None:
    loaded = load(home, "platforms: {gone: {when: 2024-01-01, 12: on}}\ntools: {here: {}}\n")
    assert loaded.raw["platforms"] == {"gone": {"when": "2024-01-01", "12": True}}
    assert loaded.idle_sections(["tools.here"]) == ["platforms.gone"]


def test_a_required_setting_that_is_missing_is_said_so(home: Home) -> None:
    @settings
    class Needy:
        """Needs something."""

        address: str = option("Where.")

    with pytest.raises(ConfigError, match=r"^config\.yaml:1 platforms\.x\.address: is required"):
        load(home, "platforms: {x: {}}").section("platforms.x", Needy)
    with pytest.raises(ConfigError, match=r"^config\.yaml platforms\.x\.address: is required"):
        load(home, "").section("platforms.x", Needy)


def test_variables_are_filled_in_and_never_kept(home: Home) -> None:
    home.env_file.write_text("TOKEN=hush-hush\n")
    text = 'model: {api_key: "${TOKEN}", base_url: "http://${HOST:-localhost}/v1"}\nagent: {identity: "$${TOKEN}"}\n'
    home.config_file.write_text(text)
    os.utime(home.config_file, (1, 1))
    loaded = load_settings(home, environ={})
    assert loaded.config.model.api_key == "hush-hush"
    assert loaded.config.model.base_url == "http://localhost/v1"
    assert loaded.config.agent.identity == "${TOKEN}"
    assert "hush" not in repr(loaded.config)
    assert "hush" not in (home.cache / "config.json").read_text()
    assert load_settings(home, environ={"HOST": "h"}).config.model.base_url == "http://h/v1"


def test_an_unset_variable_is_a_problem_of_its_own(home: Home) -> None:
    said = "display.interface: ${NOPE} is not set, neither in the environment nor in .env"
    assert problems(home, "display: {interface: '${NOPE}'}") == [f"config.yaml:1 {said}"]


def test_endpoints_merge_what_the_model_and_the_provider_say(home: Home) -> None:
    text = """\
model: {provider: acme, base_url: "http://m", context_length: 9}
providers:
  acme: {base_url: "http://p", key_env: ACME, timeout: 5, headers: {X: y}, api_mode: chat_completions}
  other: {api_key: "env:OTHER"}
"""
    endpoint = load(home, text, ACME="k").endpoint("acme")
    assert endpoint is not None
    assert (endpoint.base_url, endpoint.api_key, endpoint.context, endpoint.timeout) == ("http://m", "k", 9, 5.0)
    assert (endpoint.protocol, endpoint.headers) == ("chat", {"X": "y"})
    other = load(home, text, OTHER="o").endpoint("other")
    assert other is not None
    assert (other.base_url, other.api_key) == ("", "o")
    with pytest.raises(UserError, match=r"providers\.acme takes its key from ACME, which is not set"):
        load(home, text).endpoint("acme")


# --- the cache ----------------------------------------------------------------------------------------------------

PROBE = """
import sys
from pathlib import Path
from hermes_core.config.paths import Home
from hermes_core.config.settings import load_settings
from hermes_core.config.schema import AgentSettings
settings = load_settings(Home(Path(sys.argv[1])))
settings.section("platforms.x", AgentSettings)
print(settings.config.model.default, sorted({"yaml", "cattrs", "tomllib", "asyncio"} & set(sys.modules)))
"""


def probe(home: Home) -> str:
    command = [sys.executable, "-c", PROBE, str(home.root)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_hit_reads_no_yaml_and_a_change_is_seen(home: Home) -> None:
    home.config_file.write_text("model: {default: one}\nplatforms: {x: {max_calls: 3}}\n")
    os.utime(home.config_file, (1, 1))
    assert probe(home) == "one ['yaml']"
    assert probe(home) == "one []"
    assert (home.cache / "config.json").stat().st_mode & 0o777 == 0o600
    home.config_file.write_text("model: {default: two}\n")
    os.utime(home.config_file, (2, 2))
    assert probe(home) == "two ['yaml']"
    (home.cache / "config.json").write_text('{"key": ')
    assert probe(home) == "two ['yaml']"
    assert probe(home) == "two []"


def test_a_file_that_may_still_change_within_the_clocks_step_is_not_cached(home: Home) -> None:
    load(home, "model: {default: one}\n")
    assert not home.cache.exists()


def test_a_cached_mapping_that_no_longer_fits_is_still_refused(home: Home) -> None:
    home.config_file.write_text("agent: {max_calls: 5}\n")
    os.utime(home.config_file, (1, 1))
    load_settings(home)
    kept = json.loads((home.cache / "config.json").read_text())
    kept["raw"] = {"agent": {"max_calls": "5"}}
    (home.cache / "config.json").write_text(json.dumps(kept))
    with pytest.raises(ConfigError, match=r"config\.yaml:1 agent\.max_calls: must be a whole number, not text"):
        load_settings(home)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(16 * 2**20 + 1)


READERS = {
    "config.yaml": lambda home: load_settings(home),
    ".env": lambda home: Secrets(home.env_file).get("NOT_SET"),
    "plugins.lock": lambda home: pytest.fail(Consent(home.lock_file).faults(Index([]))[0].error),
}
ODD = {
    "it is no regular file": (os.mkfifo, lambda path: path.symlink_to("/dev/zero")),
    "it has more than 16 MB": (sparse,),
}


@pytest.mark.parametrize("name", READERS)
def test_only_regular_files_of_a_sane_size_are_read(home, name) -> None:
    for why, makers in ODD.items():
        for make in makers:
            make(home.root / name)
            with pytest.raises((UserError, pytest.fail.Exception), match=why):
                READERS[name](home)
            (home.root / name).unlink()


@pytest.mark.parametrize("old", ["wire: responses", "api_mode: codex_responses", "wire: codex_responses"])
def test_the_words_that_a_protocol_had_before_stay_good(home: Home, old: str) -> None:
    (home.root / "config.yaml").write_text(f"providers: {{mine: {{base_url: 'http://h/v1', {old}}}}}\n")
    assert load_settings(home).config.providers["mine"].protocol == "responses"


def test_the_older_word_for_the_queue_of_turns_stays_good(home: Home) -> None:
    workers = load(home, "workers: {engine: procrastinate, count: 3}\n").config.workers
    assert (workers.queue, workers.count) == ("procrastinate", 3)
