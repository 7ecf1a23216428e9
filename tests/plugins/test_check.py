"""Whether manifest and code tell the same story, for authors."""

import sys

import pytest

from hermes_core.testing import check_plugin

GOOD = (
    "from hermes_core import hookimpl\nfrom hermes_core.kinds import tool\n@tool\nasync def now() -> str:\n    'Now.'\n"
    "@hookimpl\ndef register_tools():\n    return [now]\n"
)
NOW = {"contributes": {"tools": ["now"]}}


def said(path, **more):
    return [(f.level, f.text) for f in check_plugin(path, imports=True, **more)]


def test_a_good_plugin_is_found_from_project_package_and_file(site, tmp_path):
    project = tmp_path / "hermes-tool-now"
    (project / "src").mkdir(parents=True)
    site.package("tool/now", GOOD, tables=NOW).rename(project / "src" / "hermes_tool_now")
    (project / "pyproject.toml").write_text('[project.entry-points."hermes.plugins"]\nnow = "hermes_tool_now"\n')
    before = list(sys.path)
    for path in (project, project / "src" / "hermes_tool_now", site.file("tool/now", GOOD, tables=NOW)):
        assert [level for level, _ in said(path)] == ["ok", "ok"]
    assert sys.path == before


def test_an_installed_plugin_is_imported_through_its_entry_point(site):
    folder = site.package("tool/now", GOOD, tables=NOW)
    (site.packages / "pyproject.toml").write_text('[project.entry-points."hermes.plugins"]\nnow = "hermes_tool_now"\n')
    assert [level for level, _ in said(folder)] == ["ok", "ok"]
    assert "stevedore" in sys.modules


def test_everything_that_differs_is_named(site):
    tables = {"contributes": {"tools": ["now", "later"], "skills": ["skills"]}, "hooks": {"use": ["admit"]}}
    found = said(site.folder("tool/now", GOOD, tables=tables))
    faults = [text for level, text in found if level == "fault"]
    assert faults == [
        "contributes.skills: there is no folder skills",
        "[contributes] tools declares later, and no hook gives it",
        "[hooks] use declares admit, and the code has no @hookimpl of that name",
    ]


def test_an_undeclared_name_is_named(site):
    path = site.folder("tool/now", GOOD, tables={"contributes": {"tools": ["other"]}})
    assert ("fault", "register_tools adds 'now' without declaring it") in said(path)


SPOKEN = """
from hermes_core import hookimpl
from hermes_core.kinds import SetupStep
from hermes_core.types import Command, SlashCommand
async def run(session, rest): return rest
class Step(SetupStep):
    name = "now"
@hookimpl
def register_slash_commands(): return [SlashCommand(name="now", run=run, confirm=lambda rest: "Sure?")]
@hookimpl
def register_setup(): return [Step()]
@hookimpl
def register_cli_commands(): return [Command(name="now", build=None)]
"""


def test_records_and_code_say_the_same(site):
    told = {"summary": "Says when."}
    right = {"slash.now": {**told, "confirm": True, "aliases": ["when"]}, "setup.now": told, "commands.now": told}
    assert [level for level, _ in said(site.folder("tool/now", SPOKEN, tables=right))] == ["ok", "ok"]
    more = {"slash.now": told, "slash.then": told, "setup.then": told, "setup.now": told, "commands.then": told,
            "commands.now": told}  # fmt: skip
    assert {text for level, text in said(site.folder("tool/then", SPOKEN, tables=more)) if level == "fault"} == {
        "[contributes] commands declares then, and no hook gives it",
        "[contributes] slash declares then, and no hook gives it",
        "[contributes] setup declares then, and no hook gives it",
        "/now asks before a loss, and its record says confirm = false",
    }


def test_a_thing_that_people_see_needs_a_record(site):
    listed = {"contributes": {"slash": ["now"], "setup": ["now"], "commands": ["now"]}}
    path = site.folder("tool/now", SPOKEN, tables=listed)
    faults = [f.text for f in check_plugin(path) if f.level == "fault"]
    assert faults == [
        f'now has no table [{t}."now"] with a summary in the manifest' for t in ("commands", "slash", "setup")
    ]
    bare = site.folder("tool/bare", SPOKEN, tables={"slash.now": {"summary": "Says when.", "confirm": True}})
    texts = [text for level, text in said(bare) if level == "fault"]
    assert "register_setup adds 'now' without declaring it" in texts
    assert "register_cli_commands adds 'now' without declaring it" in texts
    hints = {f.fix for f in check_plugin(bare, imports=True)}
    assert 'Write [setup."now"] with a summary into hermes-plugin.toml.' in hints


def test_tables_have_no_name_to_declare(site):
    code = (
        "from pathlib import Path\nfrom hermes_core import hookimpl\nfrom hermes_core.types import Migration\n"
        "@hookimpl\ndef register_migrations():\n    return [Migration(folder=Path('migrations'), head='0001')]\n"
    )
    path = site.folder("tool/now", code, tables={"permissions": {"kernel": ["store.tables"]}})
    assert [level for level, _ in said(path)] == ["ok", "ok"]


def test_without_imports_nothing_runs(site):
    path = site.folder("tool/now", "raise SystemExit(1)", tables=NOW)
    assert [f.level for f in check_plugin(path)] == ["ok"]
    assert ("fault", "called sys.exit(1)") in said(path)


def test_what_is_no_plugin_says_so(tmp_path):
    (finding,) = check_plugin(tmp_path)
    assert finding.level == "fault"
    (tmp_path / "hermes-plugin.toml").write_text("api = 1\nnam = 'x'\n")
    (finding,) = check_plugin(tmp_path)
    assert "did you mean name?" in finding.text


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (bad, [f"[config] section {bad} is no place for settings"])
        for bad in ("model", "toolz.now", "platforms", "tools.other")
    ]
    + [(good, []) for good in ("tools.now", "providers.now", "agent", "acme")],
)
def test_settings_at_a_place_that_is_nobodys_are_named(site, place, said):
    config = {"section": place, "class": "hermes_tool_now:Own"}
    found = check_plugin(site.folder("tool/now", GOOD, tables={**NOW, "config": config}))
    assert [f.text for f in found if f.level == "fault"] == said
