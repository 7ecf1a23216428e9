"""A config.yaml of Hermes Agent lies where ours does: no command dies of it, and none of it is in force."""

import pytest

REFERENCE = """\
_config_version: 33
model: {provider: openrouter, default: some/model}
agent: {max_turns: 12}
approvals: {mode: "off"}
mcp_servers: {linear: {url: "https://mcp.example.org"}}
"""


@pytest.fixture
def cli(cli):
    cli.configure(REFERENCE)
    return cli


@pytest.mark.parametrize(
    "words", [("status",), ("sessions", "list"), ("plugins", "list"), ("config", "show"), ("skills", "list")]
)
def test_a_command_runs_and_says_how_to_take_the_file_over(cli, words):
    done = cli(*words)
    assert done.status == 0
    assert "hermes migrate hermes-agent" in done.err or words == ("plugins", "list")


def test_a_turn_runs_by_the_defaults(cli):
    done = cli("--provider", "offline", "-z", "hello")
    assert done.status == 0
    assert "hermes migrate hermes-agent" in done.err
    assert cli("config", "get", "policy.mode").out == "ask\n"


def test_the_check_and_doctor_name_it_once_instead_of_every_key(cli):
    checked = cli("config", "check")
    assert checked.status == 2
    assert "hermes migrate hermes-agent" in checked.err
    assert "no such setting" not in checked.err
    (found,) = [row for row in cli("doctor", "--json").row["findings"] if row["who"] == "settings"]
    assert "is a file of Hermes Agent" in found["text"]


@pytest.mark.parametrize("words", [("set", "agent.max_calls", "3"), ("unset", "model.default")])
def test_nothing_is_written_into_it(cli, words):
    done = cli("config", *words)
    assert done.status == 2
    assert "is a file of Hermes Agent" in done.err
    assert (cli.home / "config.yaml").read_text() == REFERENCE


def test_what_a_program_locked_holds_all_the_same(cli):
    from hermes_core.config.paths import Home
    from hermes_core.config.settings import load_settings

    found = load_settings(Home(cli.home), locked={"policy.mode": "off"}, defaults={"agent.max_calls": 7})
    assert (found.config.policy.mode, found.config.agent.max_calls) == ("off", 7)
    assert found.foreign
    assert not found.config.model.provider
