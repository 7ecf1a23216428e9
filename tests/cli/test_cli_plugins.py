"""Plugins through the command line, and what doctor says of broken ones."""

import json
import sys

import pytest

TOOL = """
from hermes_core import hookimpl, tool

@tool
async def shout() -> str:
    "Shout."
    return "HEY"

@hookimpl
def register_tools():
    return [shout]
"""
BROKEN = {
    "an import error": ("import nosuchmodule\n", "import", "nosuchmodule"),
    "sys.exit at import": ("import sys\nsys.exit(7)\n", "import", "7"),
    "assert at import": ("assert 1 == 2, 'sums are off'\n", "import", "sums are off"),
    "a wrong argument": (
        "from hermes_core import hookimpl\n@hookimpl\ndef register_tools(contxt):\n    return []\n",
        "register",
        "contxt",
    ),
    "a name not declared": (TOOL.replace("shout", "whisper"), "register", "whisper"),
    "a hook that raises": (
        "from hermes_core import hookimpl\n@hookimpl\ndef register_tools():\n    raise ValueError('not today')\n",
        "register",
        "not today",
    ),
    "a crash": ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "import", "SIGSEGV"),
}


def loud(cli, code=TOOL, name="loud"):
    return cli.plugin(f"tool/{name}", code, contributes={"tools": ["shout"]})


def test_a_list_says_who_is_there_and_in_use(cli):
    loud(cli)
    rows = {r["plugin"]: r for r in cli("plugins", "list", "--json").rows}
    assert rows["tool/files"]["state"] == "builtin"
    assert rows["tool/files"]["distribution"] == "hermes-tool-files"
    assert rows["tool/loud"] == {
        "plugin": "tool/loud",
        "version": "",
        "state": "never_asked",
        "distribution": "",
        "origin": "file",
        "summary": "For a test.",
    }
    assert "tool/loud" in cli("plugins", "list").out


def test_a_plugin_is_described_before_it_is_imported(cli):
    mark = cli.work / "imported"
    cli.plugin(
        "tool/loud",
        f"open({str(mark)!r}, 'w').close()\n",
        contributes={"tools": ["shout"]},
        permissions={"network": ["example.org"], "kernel": ["sessions.read"]},
    )
    out = cli("plugins", "info", "loud").out
    for said in ("tool/loud", "For a test.", "adds tools: shout", "read your sessions", "connects to example.org"):
        assert said in out
    assert not mark.exists()
    assert cli("plugins", "info", "nosuch").status == 2


def test_without_a_person_nothing_is_enabled(cli):
    loud(cli)
    done = cli("plugins", "enable", "loud")
    assert done.status == 2
    assert "--yes" in done.err
    assert cli("plugins", "enable", "loud", typed="n\n").status == 130
    assert "shout" not in cli("tools", "list").out


def test_a_person_enables_and_disables_a_plugin(cli):
    loud(cli)
    done = cli("plugins", "enable", "loud", typed="y\n")
    assert done.status == 0
    assert "with your rights" in done.out
    assert "shout" in cli("tools", "list").out
    assert "HEY" in cli("-z", "use the tool shout").out
    assert "shout" not in cli("--safe-mode", "tools", "list").out
    assert cli("plugins", "disable", "tool/loud").status == 0
    assert "shout" not in cli("tools", "list").out
    rows = {r["plugin"]: r for r in cli("plugins", "list", "--json").rows}
    assert rows["tool/loud"]["state"] == "disabled"


def test_safe_mode_may_come_from_the_environment(cli, monkeypatch):
    loud(cli)
    cli("plugins", "enable", "loud", "--yes")
    monkeypatch.setenv("HERMES_SAFE_MODE", "1")
    assert "shout" not in cli("tools", "list").out


@pytest.mark.long
def test_what_a_plugin_asks_for_anew_is_shown_before_it_is_allowed(cli):
    loud(cli)
    cli("plugins", "enable", "loud", "--yes")
    cli.plugin("tool/loud", TOOL, contributes={"tools": ["shout"]}, permissions={"processes": ["chromium"]})
    assert "shout" not in cli("tools", "list").out
    (row,) = [r for r in findings(cli) if r["who"].startswith("tool/loud")]
    assert (row["level"], row["phase"]) == ("asks", "consent")
    assert "chromium" in row["text"]
    assert "plugins enable" in row["fix"]
    assert "starts chromium" in cli("plugins", "enable", "loud", "--yes").out
    assert "shout" in cli("tools", "list").out


# --- broken ones ------------------------------------------------------------------------------------------------------


def findings(cli, *words):
    return cli("doctor", "--json", *words).row["findings"]


@pytest.mark.long
@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_plugin_costs_only_itself_and_doctor_names_it(cli, how):
    code, phase, said = BROKEN[how]
    (cli.work / "a.txt").touch()
    loud(cli, code)
    enabled = cli("plugins", "enable", "loud", "--yes")
    assert enabled.status == 3
    assert said in enabled.err
    done = cli.process("-z", "list the files here")
    assert (done.status, done.out) == (0, "`.` holds 1 file:\n- a.txt\n")
    assert "tool/loud" in done.err
    assert "Traceback" not in done.err
    checked = cli("doctor", "--json")
    assert checked.status == 1
    assert checked.row["ok"] is False
    (row,) = [r for r in checked.row["findings"] if r["level"] == "fault"]
    assert row["who"].startswith("tool/loud")
    assert row["phase"] == phase
    assert said in row["text"]
    assert row["fix"]
    told = cli("doctor", "--plugin", "loud")
    assert told.status == 1
    assert said in told.out
    cli("plugins", "disable", "loud")
    assert cli("doctor").status == 0


def test_a_plugin_that_was_mended_is_used_again(cli):
    loud(cli, BROKEN["a crash"][0])
    cli("plugins", "enable", "loud", "--yes")
    loud(cli)
    assert cli("doctor").status == 0
    assert "HEY" in cli("-z", "use the tool shout").out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('# /// hermes\n# api = 99\n# name = "loud"\n# kind = "tool"\n# summary = "x"\n# ///\n', "newer"),
        ('# /// hermes\n# api = 1\n# nam = "loud"\n# kind = "tool"\n# summary = "x"\n# ///\n', "name"),
        ("# /// hermes\n# api = \n# ///\n", "loud.py"),
    ],
    ids=["from the future", "a typo", "no toml"],
)
def test_a_manifest_that_cannot_be_used_is_told(cli, text, said):
    loud(cli).write_text(text)
    assert cli("-z", "hello").status == 0
    (row,) = [r for r in findings(cli) if r["level"] == "fault"]
    assert row["phase"] == "declare"
    assert "loud" in row["who"]
    assert said in row["text"]
    assert "broken" in cli("plugins", "list").out
    assert cli("plugins", "info", row["who"].split()[0]).status == 3
    assert cli("plugins", "enable", row["who"].split()[0], "--yes").status == 3
    assert cli("doctor", "--plugin", row["who"].split()[0]).status == 1


@pytest.mark.long
def test_two_plugins_with_one_tool_are_both_named(cli):
    for name in ("loud", "noisy"):
        loud(cli, name=name)
        cli("plugins", "enable", name, "--yes")
    text = json.dumps(findings(cli))
    assert "tool/loud" in text
    assert "tool/noisy" in text
    assert cli("-z", "use the tool shout").status == 0


def test_an_enabled_plugin_that_is_gone_is_missed(cli):
    path = loud(cli)
    cli("plugins", "enable", "loud", "--yes")
    path.unlink()
    (row,) = [r for r in findings(cli) if r["who"].startswith("tool/loud")]
    assert row["level"] == "missing"
    assert "not installed" in row["text"]
    assert "1 question" in cli("doctor").out


# --- for authors ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["provider", "tool", "backend", "platform", "memory"])
def test_a_new_plugin_is_a_whole_package_that_checks(cli, kind):
    done = cli("plugins", "new", kind, "my-thing", "--into", str(cli.work))
    assert done.status == 0
    package = cli.work / f"hermes-{kind}-my-thing"
    written = [line for line in done.out.splitlines() if line]
    assert sorted(written) == sorted(str(p) for p in package.rglob("*") if p.is_file())
    assert (package / "pyproject.toml").is_file()
    checked = cli("plugins", "check", str(package), "--imports")
    assert checked.status == 0, checked.out
    assert f"{kind}/my-thing" in checked.out
    sys.modules.pop(f"hermes_{kind}_my_thing", None)
    again = cli("plugins", "new", kind, "my-thing", "--into", str(cli.work))
    assert again.status == 2
    assert "there already" in again.err


@pytest.mark.parametrize("words", [["robot", "x"], ["tool", "Not A Name"]])
def test_a_new_plugin_of_no_kind_or_name_is_refused(cli, words):
    assert cli("plugins", "new", *words).status == 2
    assert list(cli.work.iterdir()) == []


def test_the_next_step_that_is_told_leads_into_the_package(cli):
    done = cli("plugins", "new", "tool", "dice")
    folder = done.err.partition("cd ")[2].partition(",")[0]
    assert (cli.work / folder / "pyproject.toml").is_file()


def test_a_check_finds_what_is_wrong(cli):
    path = loud(cli, TOOL.replace("shout", "whisper"))
    assert cli("plugins", "check", str(path)).status == 0
    done = cli("plugins", "check", str(path), "--imports")
    assert done.status == 1
    assert "fault" in done.out
    assert cli("plugins", "check", str(cli.work)).status == 1
    assert cli("plugins", "check", "nosuch").status == 2


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import os\nos._exit(9)\n", "ended the whole process, with status 9"),
        ("import os\nos.kill(os.getpid(), 11)\n", "ended the whole process, by SIGSEGV"),
        ("import builtins\nbuiltins.len = None\n", "replaces Python's own len"),
        ("import time\ntime.sleep(60)\n", "did not end within 2 s"),
    ],
)
def test_a_check_outlives_what_the_code_does(cli, monkeypatch, code, said):
    monkeypatch.setattr("hermes_tool_authoring.trial.PATIENCE", 2 if "sleep" in code else 60)
    done = cli("plugins", "check", str(loud(cli, TOOL + code)), "--imports")
    assert (done.status, said in done.out) == (1, True), done.out
    assert "Traceback" not in done.err


def test_a_key_named_like_its_hook_is_understood(cli):
    path = cli.plugin("tool/loud", TOOL, contributes={"tools": ["shout"], "slash_commands": ["x"]})
    assert "did you mean slash?" in cli("plugins", "check", str(path)).out


def test_what_is_no_distribution_cannot_be_installed_or_removed(cli):
    assert cli("plugins", "install", "///").status == 2
    loud(cli)
    done = cli("plugins", "remove", "loud")
    assert done.status == 2
    assert "loud.py" in done.err
    assert cli("plugins", "remove", "nosuch").status == 2


def test_looking_again_and_restoring_nothing(cli):
    done = cli("plugins", "rescan")
    assert (done.status, done.out) == (0, "")
    assert "installed" in done.err
    assert "Nothing is missing" in cli("plugins", "sync").err
