"""Settings through the command line: looked at, changed with everything else kept, checked, edited."""

import json
import re
import stat

import pytest

from hermes_tool_budgets.purse import reached

WRITTEN = """\
# my settings
model: {provider: offline}   # no key here

agent:
  max_calls: 20  # enough
  # the next one matters
  tool_seconds: 60.0
"""


@pytest.fixture
def cli(cli):
    cli.configure(WRITTEN)
    return cli


def written(cli):
    return (cli.home / "config.yaml").read_text()


def test_the_path_is_that_of_the_profile(cli):
    assert cli("config", "path").out == f"{cli.home}/config.yaml\n"
    cli("profile", "create", "work")
    assert cli("-p", "work", "config", "path").out == f"{cli.home}/profiles/work/config.yaml\n"


def test_only_what_was_changed_is_shown_unless_all_is_asked_for(cli):
    rows = {r["setting"]: r for r in cli("config", "show", "--json").rows}
    assert rows.keys() == {"model.provider", "agent.max_calls", "agent.tool_seconds"}
    assert rows["agent.max_calls"]["value"] == "20"
    assert rows["agent.max_calls"]["from"] == "you"
    everything = {r["setting"]: r for r in cli("config", "show", "--all", "--json").rows}
    assert everything["policy.mode"] == {**everything["policy.mode"], "value": '"ask"', "from": "default"}
    assert all(r["help"] for r in everything.values())
    assert "agent.max_calls" in cli("config", "show").out


def test_a_home_with_defaults_says_so(cli):
    cli.configure("")
    done = cli("config", "show")
    assert (done.status, done.out) == (0, "")
    assert "--all" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("show",),
        ("show", "--json"),
        ("show", "--all"),
        ("get", "model"),
        ("get", "model.api_key"),
        ("get", "model.api_key", "--json"),
        ("get", "providers"),
        ("get", "providers.mine"),
        ("get", "providers.mine.api_key"),
    ],
    ids=" ".join,
)
def test_secrets_are_never_shown(cli, words):
    cli.configure(
        "model: {provider: custom, api_key: sk-very-secret}\n"
        "providers: {mine: {base_url: 'http://x/v1', api_key: sk-very-secret}}\n"
    )
    done = cli("config", *words)
    assert done.status == 0
    assert "sk-very-secret" not in done.out + done.err
    assert "[secret]" in done.out or "mine" in done.out


def test_a_reference_to_a_secret_is_shown(cli):
    cli.configure("model: {provider: custom, api_key: env:SOME_KEY}\n")
    assert cli("config", "get", "model.api_key").out == "env:SOME_KEY\n"
    assert json.loads(cli("config", "get", "model").out)["api_key"] == "env:SOME_KEY"


def test_one_setting_is_read(cli):
    assert cli("config", "get", "model.provider").out == "offline\n"
    assert cli("config", "get", "model.provider", "--json").out == '"offline"\n'
    assert cli("config", "get", "agent.max_calls").out == "20\n"
    assert cli("config", "get", "policy.mode").out == "ask\n"
    assert cli("config", "get", "policy.allow").out == "[]\n"
    done = cli("config", "get", "agent.max_cals")
    assert done.status == 2
    assert "max_calls" in done.err


def test_a_section_is_read_as_json(cli):
    agent = json.loads(cli("config", "get", "agent").out)
    assert agent["max_calls"] == 20
    assert agent["disabled_tools"] == []


def test_a_change_keeps_comments_and_order(cli):
    assert cli("config", "set", "agent.max_calls", "30").status == 0
    assert written(cli) == WRITTEN.replace("max_calls: 20", "max_calls: 30")
    assert cli("config", "get", "agent.max_calls").out == "30\n"
    assert cli("config", "unset", "agent.tool_seconds").status == 0
    assert "# my settings" in written(cli)
    assert "max_calls: 30  # enough" in written(cli)
    assert "tool_seconds" not in written(cli)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("security.allow_private_urls", "false", False),
        ("policy.allow", '["terminal(echo *)"]', ["terminal(echo *)"]),
        ("agent.identity", "Call me Al: always", "Call me Al: always"),
        ("model.temperature", "0.5", 0.5),
        ("platforms.mine.token", "abc", "abc"),
    ],
)
def test_a_value_is_what_the_setting_asks_for(cli, key, text, value):
    assert cli("config", "set", key, text).status == 0
    assert json.loads(cli("config", "get", key, "--json").out) == value


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("agent.max_cals", "5", "max_calls"),
        ("agent.max_calls", "many", "agent.max_calls"),
        ("policy.mode", "never", "ask"),
        ("agent..x", "5", "agent..x"),
        ("PATH", "/tmp", "PATH"),
    ],
)
def test_what_is_not_allowed_there_is_not_written(cli, key, value, said):
    done = cli("config", "set", key, value)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert written(cli) == WRITTEN
    assert not (cli.home / ".env").exists()


def test_a_secret_goes_to_the_env_file_closed_to_others(cli):
    done = cli("config", "set", "SOME_API_KEY", "sk-very-secret")
    assert done.status == 0
    assert "sk-very-secret" not in done.out + done.err
    env = cli.home / ".env"
    assert "SOME_API_KEY=sk-very-secret" in env.read_text()
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    assert written(cli) == WRITTEN
    cli("config", "unset", "SOME_API_KEY")
    assert "SOME_API_KEY" not in env.read_text()


def test_a_secret_is_asked_for_and_not_shown(cli, monkeypatch):
    monkeypatch.setattr("getpass.getpass", lambda prompt, *_: "sk-very-secret" if "SOME_API_KEY" in prompt else "")
    done = cli("config", "set", "SOME_API_KEY", typed="")
    assert done.status == 0, done.err
    assert "sk-very-secret" not in done.out + done.err
    assert "history" not in done.err
    assert "SOME_API_KEY=sk-very-secret" in (cli.home / ".env").read_text()


def test_a_secret_is_read_from_standard_input(cli):
    done = cli("config", "set", "SOME_API_KEY", "-", stdin="sk-very-secret\r\n")
    assert (done.status, "history" in done.err) == (0, False)
    assert "SOME_API_KEY=sk-very-secret\n" in (cli.home / ".env").read_text()


def test_a_secret_on_the_command_line_is_kept_and_the_history_told(cli):
    assert "history of your shell" in cli("config", "set", "SOME_API_KEY", "sk-very-secret").err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["SOME_API_KEY"], "There is no value for SOME_API_KEY."),
        (["SOME_API_KEY", "-"], "There is no value for SOME_API_KEY."),
        (["agent.max_calls"], "There is no value for agent.max_calls."),
    ],
)
def test_without_a_value_nothing_is_kept(cli, words, said):
    done = cli("config", "set", *words)
    assert done.status != 0
    assert said in done.err
    assert not (cli.home / ".env").exists()
    assert written(cli) == WRITTEN


@pytest.mark.parametrize("key", ["agent.tool_workers", "SOME_API_KEY"])
def test_taking_back_what_is_not_set_is_told(cli, key):
    done = cli("config", "unset", key)
    assert (done.status, done.out) == (0, "")
    assert key in done.err
    assert written(cli) == WRITTEN


def test_taking_back_what_does_not_exist_is_refused(cli):
    done = cli("config", "unset", "agent.max_cals")
    assert done.status == 2
    assert "max_calls" in done.err
    assert written(cli) == WRITTEN


def test_a_check_finds_everything_at_once(cli):
    done = cli("config", "check")
    assert (done.status, done.out) == (0, f"{cli.home}/config.yaml: fine.\n")
    cli.configure("agent: {max_cals: 5}\npolicy: {mode: never}\nnosuch: 1\n")
    done = cli("config", "check")
    assert (done.status, done.out) == (2, "")
    assert [line.split()[0] for line in done.err.splitlines()[:3]] == [f"config.yaml:{n}" for n in (1, 2, 3)]
    assert "hermes config edit" in done.err


@pytest.mark.parametrize("rule", ["", " ", "terminal((", "(rm *)", "terminal (rm *)", "terminal)", "terminal(rm *"])
def test_a_rule_that_can_match_nothing_is_refused(cli, rule):
    cli.configure(f"policy: {{deny: [{json.dumps(rule)}]}}\n")
    for words in (("config", "check"), ("-z", "hello")):
        done = cli(*words)
        assert done.status == 2
        assert f"policy.deny: {rule!r} can match nothing" in done.err


def test_a_rule_for_a_tool_that_nobody_has_is_told_and_stops_nothing(cli):
    cli.configure("model: {provider: offline}\npolicy: {deny: ['termnal(rm *)'], allow: ['mcp_*', own_x, todo]}\n")
    told = (
        "The policy rule 'termnal(rm *)' matches nothing: no installed plugin has a tool termnal; "
        "did you mean terminal?\n"
    )
    done = cli("config", "check")
    assert (done.status, done.out) == (0, told)
    assert told in cli("-z", "hello").err
    [row] = [r for r in cli("doctor", "--json").row["findings"] if r["who"] == "policy"]
    assert (row["level"], row["text"]) == ("asks", told.strip())
    assert cli("doctor").out.endswith("0 faults, 1 question.\n")


def test_sections_of_enabled_plugins_are_checked_and_described(cli):
    code = (
        "from hermes_core import option, settings\n@settings\n"
        "class Config:\n    'X.'\n    n: int = option('N.', default=1)\n"
    )
    table = {"section": "tools.counter", "class": "counter:Config"}
    cli.plugin("tool/counter", code, config=table)
    cli.configure("tools: {counter: {m: 1}}\n")
    assert cli("config", "check").status == 0  # nobody claims it
    cli("plugins", "enable", "counter", "--yes")
    done = cli("config", "check")
    assert done.status == 2
    assert "config.yaml:1 tools.counter.m" in done.err
    assert cli("config", "set", "tools.counter.n", "many").status == 2
    cli.configure("")
    assert cli("config", "set", "tools.counter.n", "3").status == 0
    schema = json.loads(cli("config", "schema").out)
    assert schema["properties"]["tools"]["properties"]["counter"]["properties"]["n"]["type"] == "integer"


def test_the_schema_is_one_json_object(cli):
    schema = json.loads(cli("config", "schema").out)
    assert schema["properties"]["agent"]["properties"]["max_calls"]["type"] == "integer"


@pytest.mark.parametrize("variable", ["EDITOR", "VISUAL"])
def test_the_file_is_opened_in_the_editor_and_checked(cli, monkeypatch, variable):
    (cli.home / "config.yaml").unlink()
    editor = cli.work / "editor"
    editor.write_text('#!/bin/sh\necho "agent: {max_calls: 7}" >> "$2"\n')
    editor.chmod(0o755)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv(variable, f"{editor} --wait")
    assert cli("config", "edit", typed="").status == 0
    assert cli("config", "get", "agent.max_calls").out == "7\n"
    editor.write_text('#!/bin/sh\necho "agent: {max_cals: 7}" > "$2"\n')
    done = cli("config", "edit", typed="")
    assert done.status == 2
    assert "config.yaml:1 agent.max_cals" in done.err


def test_an_editor_is_not_opened_where_there_is_no_terminal(cli, monkeypatch):
    monkeypatch.setenv("EDITOR", "touch opened")
    done = cli("config", "edit")
    assert done.status == 2
    assert "hermes config set KEY VALUE" in done.err
    assert not (cli.work / "opened").exists()


@pytest.mark.parametrize("words", [("-z", "hello"), ("config", "check"), ("config", "get", "agent.max_calls")])
def test_a_file_that_cannot_be_read_tells_its_line_and_its_mend(cli, words):
    cli.configure("agent:\n  max_calls: [5\n")
    done = cli(*words)
    assert done.status == 2
    assert "config.yaml:3:1" in done.err
    assert "Mend them with `hermes config edit`." in done.err


@pytest.mark.parametrize("editor", ["nosuch-editor", "false"])
def test_an_editor_that_fails_is_named(cli, monkeypatch, editor):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    done = cli("config", "edit", typed="")
    assert done.status == 2
    assert editor in done.err
    assert written(cli) == WRITTEN


@pytest.mark.parametrize(
    ("what", "used", "limit", "enough"),
    [("tokens", 17_291, 100, 34_582), ("tokens", 2_400_000, 2_000_000, 4_800_000), ("money", 0.02, 0.00001, 0.04)],
)
def test_what_a_used_up_budget_advises_is_taken_and_is_enough(cli, what, used, limit, enough):
    advice = re.search(r"hermes (config set \S+ \S+)", reached("day", what, used, limit).hint)
    assert advice
    words = advice[1].split()
    assert cli(*words).status == 0
    assert float(cli("config", "get", words[2]).out) == enough


def test_sections_in_a_list_are_shown_as_they_are_and_their_keys_hidden(cli):
    cli.configure("fallback_providers: ['deepseek:small', {provider: openai, api_key: sk-mine}]\n")
    for words in (("get", "fallback_providers"), ("show", "--json")):
        done = cli("config", *words)
        assert "Settings(" not in done.out
        assert "sk-mine" not in done.out
    first, second = json.loads(cli("config", "get", "fallback_providers").out)
    assert (first["provider"], first["model"], second["api_key"]) == ("deepseek", "small", "[secret]")
