"""Commands that look at the house: doctor, model, tools, profile, logs, insights, prompt-size."""

import json
import os
import re
import stat
import sys
import time

import pytest

from hermes_backend_kit.walls import FILTER, LOOSE, NETWORK, NO_SKILLS
from hermes_core.embed import Distribution

# Probing every plugin in a process of its own is shown on a page of the documentation, which is played.
FEW = Distribution(
    name="hermes",
    own=("hermes-provider-offline", "hermes-tool-files", "hermes-memory-files", "hermes-backend-local"),
)

# --- doctor -----------------------------------------------------------------------------------------------------------


def test_doctor_for_programs_is_one_object(cli):
    done = cli("doctor", "--json")
    assert done.status == 0
    assert done.row.keys() == {"version", "ok", "findings"}
    assert done.row["ok"] is True
    assert all(r.keys() == {"level", "who", "phase", "text", "fix"} for r in done.row["findings"])
    assert {"hermes", "home", "settings", "store"} <= {r["who"] for r in done.row["findings"]}
    assert "tool/files 1.0.0" in {r["who"] for r in done.row["findings"]}


def test_doctor_for_people_ends_with_a_sum(cli):
    done = cli("doctor")
    assert done.status == 0
    assert done.out.endswith("All is well.\n")
    assert str(cli.home) in done.out


@pytest.mark.long
def test_doctor_looks_deeper_when_asked(cli):
    rows = cli("doctor", "--deep", "--json", distribution=FEW).row["findings"]
    files = [r for r in rows if r["who"] == "tool/files 1.0.0"]
    assert files[0]["text"].startswith("imported in ")
    assert any(r["who"] == "memory/files" for r in rows)  # its own checks
    (model,) = [r for r in rows if r["who"] == "model"]
    assert "rules-1 from offline" in model["text"]


def test_doctor_looks_at_one_plugin(cli):
    rows = cli("doctor", "--plugin", "files", "--json")
    assert rows.status == 2  # tool/files and memory/files
    rows = cli("doctor", "--plugin", "tool/files", "--deep", "--json").row["findings"]
    assert {r["who"] for r in rows} == {"tool/files 1.0.0"}
    assert cli("doctor", "--plugin", "nosuch").status == 2


def test_doctor_finds_wrong_settings(cli):
    cli.configure("agent: {max_cals: 5}\n")
    done = cli("doctor", "--json")
    assert done.status == 1
    (row,) = [r for r in done.row["findings"] if r["level"] == "fault"]
    assert row["who"] == "settings"
    assert "config.yaml:1 agent.max_cals" in row["text"]
    assert row["fix"] == "hermes config edit"


def test_doctor_closes_an_open_env_file(cli):
    env = cli.home / ".env"
    env.write_text("SOME_KEY=x\n")
    env.chmod(0o644)
    done = cli("doctor", "--json")
    assert done.status == 1
    (row,) = [r for r in done.row["findings"] if r["who"] == "secrets"]
    assert "--fix" in row["fix"]
    assert cli("doctor", "--fix").status == 0
    assert stat.S_IMODE(env.stat().st_mode) == 0o600


def test_doctor_finds_a_broken_store(cli):
    (cli.home / "state.db").write_bytes(b"not a database at all" * 100)
    done = cli("doctor", "--json")
    assert done.status == 1
    (row,) = [r for r in done.row["findings"] if r["level"] == "fault"]
    assert row["who"] == "store"


def test_doctor_finds_models_that_can_stand_in_for_nobody(cli):
    cli.configure(
        "fallback_providers: [openroutr:m, {provider: openai, key_env: NO_SUCH_KEY}, offline:rules-1]\n"
        "auxiliary: {compression: {model: small, fallback: [nosuch:m]}}\n"
    )
    done = cli("doctor", "--json")
    assert done.status == 1
    first, second, third = (r for r in done.row["findings"] if r["who"] == "models")
    assert "fallback_providers[0]: There is no provider named 'openroutr'. Did you mean 'openrouter'?" in first["text"]
    assert "NO_SUCH_KEY" in second["text"]
    assert "auxiliary.compression.fallback[0]" in third["text"]


def test_doctor_says_when_nobody_would_ask_them(cli):
    cli.configure("fallback_providers: ['offline:rules-1']\nproviders: {openai: {keys: [a, b]}}\n")
    assert [r for r in cli("doctor", "--json").row["findings"] if r["who"] == "models"] == []
    cli("plugins", "disable", "provider/router")
    (row,) = [r for r in cli("doctor", "--json").row["findings"] if r["who"] == "models"]
    assert row["level"] == "missing"
    assert "providers.openai.keys, fallback_providers[0]" in row["text"]
    assert row["fix"] == "hermes plugins enable provider/router"


def test_doctor_mentions_sections_that_nobody_claims(cli):
    cli.configure("platforms: {slack: {token: x}}\n")
    done = cli("doctor", "--json")
    assert done.status == 0
    (row,) = [r for r in done.row["findings"] if r["level"] == "idle" and r["who"] == "settings"]
    assert "platforms.slack" in row["text"]


def test_doctor_says_when_no_model_can_answer(cli):
    cli.configure("model: {provider: nosuch}\n")
    done = cli("doctor", "--deep", "--json", distribution=FEW)
    assert done.status == 1
    (row,) = [r for r in done.row["findings"] if r["level"] == "fault"]
    assert row["who"] == "model"
    assert "nosuch" in row["text"]


ALONE = Distribution(name="hermes", own=("hermes-tool-files", "hermes-platform-cli"))


def test_doctor_never_says_that_all_is_well_where_nothing_can_answer(cli, monkeypatch):
    def row(who, config="", **options):
        cli.configure(config)
        done = cli("doctor", **options)
        assert "All is well." not in done.out
        (found,) = [r for r in cli("doctor", "--json", **options).row["findings"] if r["who"] == who]
        return found["level"], found["text"], found["fix"]

    for name in ("OLLAMA_BASE_URL", "LM_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL", "SGLANG_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    assert row("model")[::2] == ("asks", "hermes setup")  # simple rules answer
    said = "openrouter/auto from openrouter cannot answer yet"
    assert row("model", "model: {provider: openrouter}\n") == ("fault", said, "hermes setup openrouter")
    level, text, fix = row("model", distribution=ALONE)
    assert (level, text, "hermes plugins enable" in fix) == ("fault", "No provider can answer.", True)


@pytest.mark.long
def test_doctor_of_the_kernel_alone_advises_only_what_is_there(cli, monkeypatch):
    """Where it names a command of a package that is not there, it says first how that comes."""
    cli.plugin("tool/mine", "")
    cli("plugins", "enable", "mine", "--yes")
    monkeypatch.setattr("hermes_core.plugins.index._packages", lambda: iter(()))

    def alone(*words):
        (cli.home / "cache" / "plugins.json").unlink(missing_ok=True)  # the trial of a plugin looked for itself
        return cli(*words)

    fault = {"when": time.time(), "error": "no", "hint": ""}
    (cli.home / "cache" / "faults.json").write_text(json.dumps({"tool/mine": {"go": fault}}))
    rows = alone("doctor", "--json").row["findings"]
    fixes = {row["who"].split()[0]: row["fix"] for row in rows if row["fix"]}
    assert fixes["policy"] == "pip install hermes-tool-guard"
    assert fixes["model"] == "pip install 'hermes-core[standard]'"
    assert fixes["tool/mine"] == "pip install hermes-platform-cli, then hermes logs"
    cli.configure("nosuch: 1\n")
    (row,) = [row for row in alone("doctor", "--json").row["findings"] if row["who"] == "settings"]
    assert row["fix"] == "pip install hermes-platform-cli, then hermes config edit"


def test_without_the_command_that_installs_a_package_is_named_for_pip(cli, monkeypatch):
    monkeypatch.setattr("hermes_core.plugins.index._packages", lambda: iter(()))
    cli.plugin("provider/mine", "", contributes={"providers": ["mine"]})
    cli("plugins", "enable", "mine", "--yes")
    (cli.home / "cache" / "plugins.json").unlink(missing_ok=True)
    done = cli("gateway", "run")
    assert (done.status, "pip install hermes-platform-gateway" in done.err) == (2, True)
    assert "plugins install" not in done.err


def test_doctor_never_says_that_all_is_well_where_tools_have_no_place(cli):
    def row(config, **options):
        cli.configure(f"model: {{provider: offline}}\n{config}")
        done = cli("doctor", "--json", **options)
        (found,) = [r for r in done.row["findings"] if r["who"] == "backend"]
        return done.status, found["level"], found["fix"]

    assert row("") == (0, "ok", "")
    assert row("terminal: {backend: nosuch}\n") == (1, "fault", "hermes plugins install hermes-backend-nosuch")
    assert row("terminal: {backend: ssh}\n") == (1, "fault", "hermes doctor --deep --plugin backend/ssh")
    assert row("", distribution=ALONE)[1:] == ("fault", "hermes plugins enable backend/local")


def test_model_and_doctor_do_not_point_at_each_other(cli):
    cli("plugins", "disable", "provider/offline")
    for distribution in (ALONE, None):
        options = {"distribution": distribution} if distribution else {}
        cli.configure("model: {provider: offline}\n")
        shown, looked = cli("model", "show", **options), cli("doctor", **options)
        assert (shown.status, "hermes doctor" in shown.err) == (2, False)
        assert "hermes model" not in looked.out
        assert "hermes plugins enable provider/offline" in shown.err
        assert "hermes plugins enable provider/offline" in looked.out


def test_tools_of_a_plugin_that_is_not_enabled_are_named_with_the_way(cli):
    cli("plugins", "disable", "tool/web")
    assert "hermes plugins enable tool/web" in cli("tools", "list").err
    done = cli("tools", "enable", "web_fetch")
    assert (done.status, "hermes plugins enable tool/web" in done.err) == (2, True)
    assert cli("tools", "enable", "nosuch").err.startswith("There is no tool named 'nosuch'.")


# --- model ------------------------------------------------------------------------------------------------------------


def test_the_model_in_use_is_shown(cli):
    assert cli("model", "show", "--json").row == {"provider": "offline", "model": "rules-1"}
    for words in (["model"], ["model", "show"]):
        assert cli(*words).out.split() == ["provider", "model", "offline", "rules-1"]


def test_providers_and_their_models_are_listed(cli):
    rows = {r["provider"]: r for r in cli("model", "list", "--json").rows}
    assert rows["offline"] == {"provider": "offline", "ready": "yes", "kind": "rules"}
    assert [r["ready"] for r in rows.values()] == sorted((r["ready"] for r in rows.values()), reverse=True)  # first
    assert rows["openrouter"]["kind"] == "hosted"
    assert rows["ollama"]["kind"] == "local"
    assert [r["model"] for r in cli("model", "list", "offline", "--json").rows] == ["rules-1"]
    assert cli("model", "list", "nosuch").status == 2


def test_a_model_is_chosen_for_good(cli):
    cli.configure("# mine\nmodel: {provider: custom, base_url: 'http://127.0.0.1:9/v1', default: m}\n")
    done = cli("model", "choose", "offline:rules-1")
    assert (done.status, done.out) == (0, "")
    assert "offline answers" in done.err
    assert cli("model", "show", "--json").row == {"provider": "offline", "model": "rules-1"}
    assert (cli.home / "config.yaml").read_text().startswith("# mine\n")


def test_the_address_of_the_old_provider_is_kept_and_not_given_to_the_new_one(cli):
    cli.configure("model: {provider: custom, base_url: 'http://127.0.0.1:9/v1', api_key: x, default: m}\n")
    cli("model", "choose", "offline:rules-1")
    assert cli("-z", "hello").status == 0
    assert cli("config", "get", "providers.custom.base_url").out == "http://127.0.0.1:9/v1\n"
    cli("model", "choose", "custom:m")
    assert cli("model", "show", "--json").row == {"provider": "custom", "model": "m"}
    assert cli("config", "get", "model.base_url").out == "\n"


def test_a_provider_alone_brings_its_own_model(cli):
    assert cli("model", "choose", "offline").status == 0
    assert cli("model", "show", "--json").row == {"provider": "offline", "model": "rules-1"}


def test_a_choice_that_cannot_answer_yet_is_kept_and_told(cli):
    done = cli("model", "choose", "openrouter:some/model")
    assert done.status == 0
    assert "cannot answer yet" in done.err
    assert "OPENROUTER_API_KEY" in done.err
    assert cli("config", "get", "model.default").out == "some/model\n"


@pytest.mark.parametrize("words", [["nosuch:model"], ["rules-1"], []])
def test_a_choice_of_nobody_is_refused(cli, words):
    before = (cli.home / "config.yaml").read_text()
    done = cli("model", "choose", *words)
    assert (done.status, done.out) == (2, "")
    assert "PROVIDER:MODEL" in done.err
    assert (cli.home / "config.yaml").read_text() == before


def test_a_person_chooses_from_a_list(cli):
    done = cli("model", "choose", typed="offline\n\n")
    assert done.status == 0
    assert "openrouter" in done.err
    assert "rules-1 from offline answers." in done.err
    assert json.loads(cli("config", "get", "model.provider", "--json").out) == "offline"


# --- tools ------------------------------------------------------------------------------------------------------------


def test_tools_are_listed_with_what_they_may_touch(cli):
    rows = {r["tool"]: r for r in cli("tools", "list", "--json").rows}
    assert rows["terminal"].keys() == {"tool", "on", "toolset", "may", "description", "why"}
    assert rows["terminal"]["may"] == "execute"
    assert rows["read_file"]["toolset"] == "files"
    hidden = {name: row["why"] for name, row in rows.items() if row["on"] == "hidden"}
    assert hidden == {
        "apply_patch": "it is for models of OpenAI (tools.files.patches); edit_file and write_file do the same",
        "edit_notebook": "no notebook lies in this folder (tools.files.notebooks); edit_file changes text in cells",
        "message": "nobody has written from a chat yet",
        "shared_memory": "nothing is shared with its person",
        "shared_remember": "nothing is shared with its person",
        "own_rollback": "no tool was written yet",
        "own_versions": "no tool was written yet",
        "process": "nothing runs in the background of this conversation",
        "tool_search": "every tool is told of as it is, so nothing is searched for",
        "tool_describe": "every tool is told of as it is, so nothing is searched for",
    }
    assert {r["on"] for name, r in rows.items() if name not in hidden} == {"on"}
    assert "message is hidden: nobody has written from a chat yet." in cli("tools", "list").err
    assert cli("config", "set", "agent.tool_search", "on").status == 0
    rows = {r["tool"]: r["on"] for r in cli("tools", "list", "--json").rows}
    assert (rows["tool_write"], rows["tool_search"], rows["read_file"]) == ("hidden", "on", "on")


def test_a_tool_that_is_off_is_not_offered(cli):
    assert cli("tools", "disable", "terminal", "recall").status == 0
    rows = {r["tool"]: r["on"] for r in cli("tools", "list", "--json").rows}
    assert (rows["terminal"], rows["recall"], rows["read_file"]) == ("off", "off", "on")
    assert "tool/terminal" not in cli("prompt-size").out
    assert cli("tools", "enable", "terminal").status == 0
    rows = {r["tool"]: r["on"] for r in cli("tools", "list", "--json").rows}
    assert (rows["terminal"], rows["recall"]) == ("on", "off")
    done = cli("tools", "disable", "terminl")
    assert done.status == 2
    assert "'terminal'" in done.err


def test_what_was_called_is_on_record(cli):
    assert cli("tools", "history", "--json").rows == []
    assert "No tool" in cli("tools", "history").err
    (cli.work / "a.txt").write_text("hello\n")
    cli("-z", "list the files here")
    cli("-z", "read a.txt")
    first, second = cli("tools", "history", "--json").rows
    assert first == {
        "session": first["session"],
        "when": "just now",
        "started": first["started"],
        "tool": "read_file",
        "outcome": "ok",
        "seconds": first["seconds"],
        "repeats": 0,
        "arguments": {"path": "a.txt"},
        "output": "1|hello",
    }
    assert second["tool"] == "list_files"
    assert cli("tools", "history", "--tool", "list_files", "--json").row == second
    assert cli("tools", "history", "--session", "latest", "--json").row == first
    assert cli("tools", "history", "-n", "1", "--json").row == first
    assert cli("tools", "history", "--session", "nosuch").status == 2


# --- profile ----------------------------------------------------------------------------------------------------------


def test_profiles_keep_their_sessions_apart(cli, monkeypatch):
    assert cli("profile", "create", "work", "--clone", "default").status == 0
    assert cli("-p", "work", "-z", "hello").status == 0
    assert cli("sessions", "list", "--json").rows == []
    assert len(cli("-p", "work", "sessions", "list", "--json").rows) == 1
    monkeypatch.setenv("HERMES_PROFILE", "work")
    assert len(cli("sessions", "list", "--json").rows) == 1


def test_a_profile_is_used_from_now_on(cli):
    cli("profile", "create", "work")
    assert cli("profile", "use", "work").status == 0
    assert cli("profile", "show").out == f"work  {cli.home}/profiles/work\n"
    assert cli("profile", "list", "--json").rows == [
        {"name": "default", "active": False, "path": str(cli.home)},
        {"name": "work", "active": True, "path": f"{cli.home}/profiles/work"},
    ]
    assert cli("-p", "default", "profile", "show").out == f"default  {cli.home}\n"
    assert cli("profile", "use", "default").status == 0
    assert cli("profile", "show").out == f"default  {cli.home}\n"
    assert "*" in cli("profile", "list").out
    assert cli("profile", "use", "nosuch").status == 2


def test_a_profile_is_deleted_only_on_purpose(cli):
    cli("profile", "create", "work")
    assert cli("profile", "create", "work").status == 2
    assert cli("profile", "delete", "work").status == 2
    assert cli("profile", "delete", "work", typed="n\n").status == 130
    assert cli("profile", "delete", "work", "--yes").status == 0
    assert [r["name"] for r in cli("profile", "list", "--json").rows] == ["default"]
    assert cli("profile", "delete", "default", "--yes").status == 2


# --- logs -------------------------------------------------------------------------------------------------------------


def test_nothing_logged_yet_is_told(cli):
    done = cli("logs")
    assert done.status == 2
    assert "hermes.log" in done.err


def test_the_log_tells_turns_and_calls(cli):
    cli("-z", "list the files here")
    cli("-z", "hello")
    rows = cli("logs", "--json").rows
    assert [r["event"] for r in rows] == ["tool call", "turn", "turn"]
    assert rows[0]["tool"] == "list_files"
    assert cli("logs", "-n", "1", "--json").rows == rows[-1:]
    assert cli("logs", "--session", rows[0]["session"], "--json").rows == rows[:2]
    assert cli("logs", "--level", "error").out == ""
    assert re.search(r"INFO    turn trace=[0-9a-f]{16} session=", cli("logs").out)
    assert cli("logs", "--level", "loud").status == 2


def test_the_log_holds_no_secret_and_survives_strange_lines(cli):
    (cli.home / ".env").write_text("SOME_KEY=list_files\n")
    cli("-z", "list the files here")
    assert cli("logs", "--json").rows[0]["tool"] == "***"
    with (cli.home / "logs" / "hermes.log").open("a") as log:
        log.write("not json\n")
    assert cli("logs").out.endswith("not json\n")


def test_a_level_in_the_settings_is_kept(cli):
    cli.configure("model: {provider: offline}\nlogging: {level: ERROR}\n")
    cli("-z", "hello")
    assert not (cli.home / "logs" / "hermes.log").exists()


# --- insights, prompt-size --------------------------------------------------------------------------------------------


def test_what_was_used_is_counted_by_model_and_task(cli):
    assert "Nothing was used" in cli("insights").err
    cli("-z", "list the files here")
    cli("-z", "hello")
    row = cli("insights", "--json").row
    assert (row["provider"], row["model"], row["task"], row["turns"], row["calls"]) == ("offline", "rules-1", "", 2, 3)
    assert (row["cost"], row["estimated"], row["unpriced_calls"]) == (0, 0, 0)
    assert "day" in cli("insights", "--json", "--daily").row
    columns = ["provider", "model", "task", "turns", "calls", "input", "output", "cache_hits", "cost"]
    shown = cli("insights", "--days", "1").out.split()
    assert shown[: len(columns)] == columns
    assert shown[-1] == "$0.0000"  # rules cost nothing, which is known


@pytest.mark.parametrize(
    ("figures", "shown"),
    [((0.0, 0.0, 2, 2), "unknown"), ((0.5, 0.5, 0, 2), "~$0.5000"), ((0.5, 0.0, 1, 2), "$0.5000 + 1 unknown")],
)
def test_an_unknown_cost_is_never_shown_as_nothing(figures, shown):
    from hermes_platform_cli.commands.usage import _cost

    assert _cost(*figures) == shown


def test_keys_are_listed_by_fingerprint_and_used_again(cli, monkeypatch):
    assert "No provider has several keys" in cli("model", "keys").err
    monkeypatch.setenv("KEY_A", "secret-a")
    cli.configure("providers: {acme: {base_url: http://127.0.0.1:9/v1, keys: [env:KEY_A, env:KEY_B]}}\n")
    first, second = cli("model", "keys", "acme", "--json").rows
    assert (first["source"], first["state"], second["state"]) == ("env:KEY_A", "ok", "missing")
    kept = {"acme": {first["fingerprint"]: {"until": 2**40, "reason": "billing"}}}
    (cli.home / "cache").mkdir(exist_ok=True)
    (cli.home / "cache" / "keys.json").write_text(json.dumps(kept))
    listed = cli("model", "keys")
    assert "resting" in listed.out
    assert "billing" in listed.out
    assert "secret-a" not in listed.out
    wrong = cli("model", "keys", "--reset", "nosuch")
    assert (wrong.status, "no key named 'nosuch'" in wrong.err) == (2, True)
    assert cli("model", "keys", "acmee").status == 2
    assert "1 keys are used again" in cli("model", "keys", "--reset", "all").err
    assert cli("model", "keys", "--json").rows[0]["state"] == "ok"


def test_the_prompt_is_weighed_part_by_part(cli):
    rows = cli("prompt-size", "--json").rows
    assert {"prompt/identity", "tool/terminal", "total"} <= {r["part"] for r in rows}
    assert rows[-1]["bytes"] == sum(r["bytes"] for r in rows[:-1])
    assert 0 < rows[-1]["bytes"] < 16_000
    assert cli("sessions", "list", "--json").rows == []


# --- tools of one platform, and the terminal -----------------------------------------------------------------------


def test_tools_are_switched_off_on_one_platform(cli):
    assert cli("tools", "disable", "terminal", "todo", "--platform", "telegram").status == 0
    rows = {r["tool"]: r["on"] for r in cli("tools", "list", "--platform", "telegram", "--json").rows}
    assert (rows["terminal"], rows["todo"], rows["read_file"]) == ("off", "off", "on")
    assert "off" not in {r["on"] for r in cli("tools", "list", "--json").rows}
    assert cli("tools", "enable", "terminal", "todo", "--platform", "telegram").status == 0
    assert "telegram" not in (cli.home / "config.yaml").read_text()
    done = cli("tools", "disable", "terminal", "--platform", "telegraph")
    assert (done.status, "no platform named 'telegraph'" in done.err) == (2, True)
    cli("tools", "disable", "todo")
    assert "hermes tools enable todo" in cli("tools", "enable", "todo", "--platform", "cli").err


def test_a_person_switches_tools_by_their_numbers(cli):
    names = [r["tool"] for r in sorted(cli("tools", "list", "--json").rows, key=lambda r: (r["toolset"], r["tool"]))]
    done = cli("tools", "--platform", "cli", typed="1, 2 99 x\n2\n\n")
    assert done.status == 0
    assert "There is no number 99." in done.err
    assert "There is no number x." in done.err
    assert f"Off on cli: {names[0]}." in done.err
    assert cli("config", "get", "agent.disabled_on.cli", "--json").out == f'["{names[0]}"]\n'
    assert "Nothing was changed." in cli("tools", typed="\n").err


@pytest.mark.parametrize(
    ("name", "coding", "size", "level", "said"),
    [
        ("xterm-256color", "UTF-8", (80, 24), "ok", "xterm-256color, 80x24, UTF-8, 256 colours"),
        ("dumb", "UTF-8", (80, 24), "asks", "line by line"),
        ("", "UTF-8", (80, 24), "asks", "export TERM"),
        ("xterm", "ANSI_X3.4-1968", (80, 24), "asks", "LANG=C.UTF-8"),
        ("xterm", "utf8", (39, 24), "asks", "40x12"),
        ("xterm", "utf8", (100, 11), "asks", "40x12"),
    ],
)
def test_doctor_looks_at_the_terminal(cli, monkeypatch, name, coding, size, level, said):
    from hermes_platform_cli import checks

    for variable in ("COLORTERM", "NO_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TERM", name)
    monkeypatch.setattr(checks.locale, "getpreferredencoding", lambda _=False: coding)
    monkeypatch.setattr(checks, "get_terminal_size", lambda: os.terminal_size(size))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    (row,) = [r for r in cli("doctor", "--json").row["findings"] if r["who"] == "terminal"]
    assert row["level"] == level
    assert said in f"{row['text']} {row['fix']}"


def test_doctor_says_what_opens(cli):
    cli.configure("display: {interface: cli}\n")
    (row,) = [r for r in cli("doctor", "--json").row["findings"] if r["who"] == "interface"]
    assert "opens cli" in row["text"]
    cli.configure("display: {interface: nosuch}\n")
    (row,) = [r for r in cli("doctor", "--json").row["findings"] if r["who"] == "interface"]
    assert row["level"] == "fault"


def test_doctor_and_the_start_say_that_the_memory_of_the_settings_is_not_there(cli):
    cli.configure("memory: {provider: vector}\n")
    (row,) = [r for r in cli("doctor", "--json").row["findings"] if r["who"] == "memory"]
    assert (row["level"], row["fix"]) == ("fault", "hermes plugins enable memory/vector")
    assert "hermes plugins enable memory/vector" in cli("chat", "-q", "hello").err


SONAR = """
from hermes_core import hookimpl
from hermes_core.types import Check, Finding


@hookimpl
def register_checks():
    async def run():
        return [Finding(level="ok", text="one ping")]

    async def full():
        return [Finding(level="ok", text="ninety pings"), Finding(level="fault", text="a wreck", fix="Steer.")]

    return [Check(name="sonar", run=run, full=full)]
"""


def test_doctor_has_an_option_for_each_check_that_a_plugin_declares(cli):
    cli.plugin("tool/boat", SONAR, contributes={"checks": ["sonar"]})
    cli("plugins", "enable", "boat", "--yes")
    assert "--sonar" in cli("doctor", "--help").out
    assert "--walls" in cli("doctor", "--help").out
    done = cli("doctor", "--sonar")
    assert done.status == 1
    assert [line.split()[:2] for line in done.out.splitlines()[:2]] == [["ok", "tool/boat"], ["fault", "tool/boat"]]
    assert "ninety pings" in done.out
    assert "one ping" in cli("doctor", "--deep", "--plugin", "boat").out
    cli("plugins", "disable", "boat")
    assert "no enabled plugin has the check sonar" in cli("doctor", "--sonar").out


def test_a_wall_that_is_switched_off_is_not_proved(cli):
    cli.configure("backends: {local: {wall: none}}\n")
    done = cli("doctor", "--walls")
    assert done.status == 1
    assert "no wall is around commands; missing: everything" in done.out


@pytest.mark.real
def test_doctor_proves_the_wall_by_many_tries(cli):
    said = cli("status", "--json").row
    done = cli("doctor", "--walls", "--json").row
    (found,) = done["findings"]
    assert found["level"] == "ok"
    assert f"behind the wall {said['wall']}" in found["text"], "what is said and what is tried are the same"
    assert int(re.search(r"(\d+) things", found["text"])[1]) >= 50


@pytest.mark.parametrize(
    ("name", "settings", "wall", "missing"),
    [
        ("ssh", {"host": "build1"}, "none", ["everything on build1: commands can do what its user can do", NO_SKILLS]),
        ("docker", {"network": True, "mount": True}, "container", [NETWORK, LOOSE, FILTER, NO_SKILLS]),
        ("bubblewrap", {"git": "writable"}, "bubblewrap", [LOOSE]),
    ],
)
def test_status_says_the_wall_of_the_backend_that_commands_run_on(cli, name, settings, wall, missing):
    cli.configure(json.dumps({"terminal": {"backend": name}, "backends": {name: settings}}))
    row = cli("status", "--json").row
    assert (row["backend"], row["wall"], row["missing"]) == (name, wall, missing)


def test_doctor_judges_no_wall_but_that_of_the_backend_that_commands_run_on(cli):
    cli.configure("terminal: {backend: ssh}\nbackends: {ssh: {host: build1}, local: {wall: none}}\n")
    (found,) = cli("doctor", "--walls", "--json").row["findings"]
    assert (found["level"], found["who"]) == ("fault", "backend/ssh")
    assert found["text"].startswith("no wall is around commands; missing: everything on build1: commands can do")
    cli.configure("terminal: {backend: docker}\nbackends: {docker: {host: 'unix:///nowhere/docker.sock'}}\n")
    done = cli("doctor", "--walls", "--json")
    assert done.status == 1
    assert {found["who"] for found in done.row["findings"]} == {"backend/docker"}


def test_status_names_the_folder_that_a_conversation_would_work_in(cli, tmp_path):
    (tmp_path / "project").mkdir()
    cli.configure(f"terminal: {{cwd: {tmp_path / 'project'}}}\n")
    assert cli("status", "--json").row["folder"] == str(tmp_path / "project")
    cli.configure(f"terminal: {{cwd: {tmp_path}}}\n")
    assert cli("status", "--json").row["folder"] == str(tmp_path / "home/workspace"), "no one works in a home"
    cli.configure("terminal: {cwd: '~/'}\n")
    assert cli("status", "--json").row["folder"] == str(tmp_path / "home/workspace")
    cli.configure(f"terminal: {{cwd: {tmp_path}, backend: ssh}}\nbackends: {{ssh: {{host: build1}}}}\n")
    assert cli("status", "--json").row["folder"] == str(tmp_path), "over there it is another folder"


@pytest.mark.parametrize(("wall", "shown"), [("none", "none"), ("landlock", "landlock")])
def test_status_says_who_answers_and_which_wall_holds(cli, wall, shown):
    cli.configure(f"backends: {{local: {{wall: {wall}}}}}\n")
    row = cli("status", "--json").row
    assert row["wall"] == shown
    assert row["missing"], "none of the two keeps everything"
    assert row["mode"] == "ask"
    lines = cli("status").out.splitlines()
    assert f"Wall:     {shown}" in lines
    assert f"          not kept: {row['missing'][0]}" in lines


def test_doctor_tells_what_runs_whenever_python_starts(cli, monkeypatch):
    from hermes_platform_cli import checks

    (cli.work / "evil.pth").write_text("import evil\n")
    (cli.work / "paths.pth").write_text("/somewhere\n")
    (cli.work / "sitecustomize.py").touch()
    monkeypatch.setattr(checks.sysconfig, "get_path", lambda _: str(cli.work))
    rows = [r for r in cli("doctor", "--json").row["findings"] if r["who"] == "environment"]
    assert [r["level"] for r in rows] == ["asks", "asks"]
    assert "evil.pth runs code" in rows[0]["text"]
    assert "sitecustomize.py is run" in rows[1]["text"]


PID = """
import os
from hermes_core import hookimpl
from hermes_core.types import Check, Finding


@hookimpl
def register_checks():
    async def run():
        return [Finding(level="ok", text=f"in process {os.getpid()}")]

    return [Check(name="where", run=run, cheap=True)]
"""


def test_a_cheap_check_of_somebody_else_is_run_apart(cli):
    cli.plugin("tool/where", PID, contributes={"checks": ["where"]})
    cli("plugins", "enable", "where", "--yes")
    (row,) = [r for r in cli("doctor", "--json").row["findings"] if r["text"].startswith("in process")]
    assert row["who"] == "tool/where"
    assert row["text"] != f"in process {os.getpid()}"


def test_a_platform_with_a_section_that_is_not_installed_is_named_with_its_package(cli):
    cli.configure("platforms: {lines: {}, letters: {enabled: false}}\n")
    done = cli("gateway", "run")
    assert done.status == 2
    assert done.err.startswith(
        "Platform lines is not installed: pip install hermes-platform-lines\nThere is no platform"
    )
    assert "letters" not in done.err
