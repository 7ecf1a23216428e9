"""The reference is whole, and says nothing about what does not exist."""

import ast
import inspect
import re
from functools import cache
from pathlib import Path
from typing import get_args

import attrs
import hermes_reference
import pytest
from hermes_reference import cli, config, environment, events, manifest
from hermes_reference import errors as error_page
from hermes_reference import hooks as hook_page

import hermes_core
from hermes_core import context, embed, errors, hooks, kinds, modes, options, testing, types
from hermes_core.types import Event

ROOT = Path(__file__).parents[2]
PAGES = tuple(hermes_reference.PAGES)


@cache
def made(page: str) -> str:
    return hermes_reference.PAGES[page]()


def headings(page: str, level: str) -> list[str]:
    return re.findall(rf"(?m)^{level} (.+)$", made(page))


def first_cells(page: str) -> set[str]:
    return set(re.findall(r"(?m)^\| `([^`]+)`", made(page)))


def section(page: str, heading: str) -> str:
    return re.split(r"(?m)^#{2,3} ", re.split(rf"(?m)^#+ {heading}$", made(page))[1])[0]


def test_every_hook_is_documented_and_every_documented_hook_exists():
    assert headings("hooks", "###") == list(hooks.modes())


@pytest.mark.parametrize("name", hooks.modes())
def test_a_hook_is_documented_with_all_its_arguments(name):
    text, spec = section("hooks", name), getattr(hooks, name)
    shown = ast.parse(re.search(r"```python\n(.*?)\n```", text, re.DOTALL)[1] + ": ...").body[0]
    assert [a.arg for a in shown.args.args] == list(inspect.signature(spec).parameters)
    assert isinstance(shown, ast.AsyncFunctionDef) is (hooks.mode_of(spec) != "contribute")
    assert inspect.getdoc(spec).split("\n")[0].replace("``", "`") in text


def test_every_mode_is_explained():
    assert set(hook_page.MODES) == set(modes.DEADLINES)


def test_every_type_is_documented_and_every_documented_type_exists():
    assert sorted(headings("types", "###")) == sorted(types.__all__)


@pytest.mark.parametrize("name", [n for n in types.__all__ if attrs.has(getattr(types, n))])
def test_a_type_is_documented_with_all_its_fields(name):
    shown = re.findall(r"(?m)^\| `(\w+)`", section("types", name))
    assert shown == [f.name for f in attrs.fields(getattr(types, name)) if not f.inherited]


def test_every_kind_and_method_is_documented():
    assert set(headings("kinds", "##")) | {"tool"} == set(kinds.__all__)
    for name in headings("kinds", "##"):
        cls = getattr(kinds, name)
        methods = (
            [n for n, f in vars(cls).items() if inspect.isfunction(f) and not n.startswith("_")]
            if isinstance(cls, type)
            else []
        )
        missing = [m for m in methods if f"def {m}(" not in section("kinds", name)]
        assert not missing, f"{name} lacks {missing}"


def test_abstract_methods_are_marked():
    assert made("kinds").count("**Abstract.**") == sum(
        len(getattr(getattr(kinds, n), "__abstractmethods__", ())) for n in kinds.__all__
    )


@pytest.mark.parametrize("name", [n for n in testing.__all__ if n.endswith("Contract")])
def test_every_contract_test_is_documented_with_what_to_do(name):
    tests = [n for n in vars(getattr(testing, name)) if n.startswith("test_")]
    assert tests
    for one in tests:
        where = made("contract-tests").split(f"## {name}\n", 1)[1].split(f"`{one}`", 1)[1].split("\n###", 1)[0]
        assert "**If this fails:**" in where, one


@pytest.mark.parametrize(
    ("page", "module"),
    [("context", context), ("context", options), ("testing", testing), ("embedding", embed), ("errors", errors)],
)
def test_every_public_name_of_a_module_is_documented(page, module):
    told = made(page) + made("contract-tests")
    missing = [n for n in module.__all__ if n != "nearest" and not re.search(rf"\b{n}\b", told)]
    assert not missing


def test_every_broker_of_the_context_is_documented():
    brokers = {str(one.type).rpartition(".")[2].strip("'>") for one in attrs.fields(context.PluginContext)}
    documented = {name for page in PAGES for level in ("##", "###") for name in headings(page, level)}
    assert {name for name in brokers if name.endswith("Broker")} - documented == set()


def test_every_public_name_of_the_package_is_documented_somewhere():
    everything = "\n".join(map(made, PAGES))
    names = [n for n in hermes_core.__all__ if not n.startswith("_") and n != "hookimpl"]
    assert not [n for n in names if not re.search(rf"\b{n}\b", everything)]


def test_every_setting_is_documented_once():
    shown = re.findall(r"(?m)^\| `([\w.]+)` \|", made("config"))
    assert shown == config.keys()
    assert {s.split(".")[0] for s in shown} >= {"model", "agent", "policy", "platforms", "backends", "memories"}


def test_every_plugin_with_settings_is_in_the_settings_page():
    for one in (ROOT / "plugins").glob("*/src/*/hermes-plugin.toml"):
        found = re.search(r'(?m)^section = "(.+)"', one.read_text())
        assert not found or f"`{found[1]}." in made("config"), one


def test_every_command_and_option_is_documented():
    told = made("cli")
    for words, command in (*cli.commands(), *cli.theirs()):
        heading = " ".join(("hermes", *words))
        assert f"# {heading}\n" in told
        text = re.split(r"(?m)^#{2,3} ", told.split(f"# {heading}\n", 1)[1])[0]
        missing = [o for p in command.params for o in p.opts if o.startswith("-") and f"`{o}`" not in text]
        assert not missing, f"{heading} lacks {missing}"
        assert command.help, f"{heading} has no help"


def test_every_option_of_a_command_says_what_it_is():
    silent = [
        f"{' '.join(words)} {p.opts[0]}"
        for words, command in cli.commands()
        for p in command.params
        if p.param_type_name == "option" and not p.help and not hasattr(p.type, "choices")
    ]
    assert not silent


def test_every_event_is_documented_with_all_its_fields():
    assert headings("events", "##") == [kind.__name__.lower() for kind in get_args(Event)]
    for kind in get_args(Event):
        shown = re.findall(r"(?m)^\| `(\w+)`", section("events", kind.__name__.lower()))
        assert shown == [f.name for f in attrs.fields(kind)]
        assert isinstance(events.EXAMPLES[kind], kind)


def test_every_slash_command_is_documented():
    assert {c.split()[0] for c in first_cells("slash")} == {f"/{name}" for name in cli.slashes()}


def test_every_key_of_the_manifest_is_documented():
    assert set(manifest.MEANINGS) == set(manifest.keys()) == first_cells("manifest")


def test_every_exit_status_is_documented():
    from hermes_core.cli import main

    promised = re.findall(r"\b(\d+)\b", inspect.getdoc(main.run))
    assert sorted({*map(int, promised)} | {3}) == sorted(error_page.STATUS)


def test_every_environment_variable_that_is_read_is_documented():
    read = set()
    for file in [*ROOT.glob("hermes_core/**/*.py"), *ROOT.glob("plugins/*/src/**/*.py")]:
        if "testing" not in file.parts:
            read |= set(re.findall(r"\bHERMES_[A-Z_]+[A-Z]\b", file.read_text(encoding="utf-8")))
    assert read == set(environment.VARIABLES) | set(environment.INNER)


def test_every_provider_is_listed():
    named = set(re.findall(r"`([\w.-]+)`", made("providers")))
    declared = {n for m in config.manifests() for n in m.contributes["providers"]}
    assert declared <= named


def test_writing_the_pages_twice_changes_nothing(tmp_path):
    hermes_reference.write_pages(tmp_path)
    before = {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir()}
    (tmp_path / "stray.md").write_text("# Gone\n")
    hermes_reference.write_pages(tmp_path)
    assert {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir()} == before


def test_the_tests_of_the_documentation_know_every_local_server(newcomer):
    local = {str(e.get("base_url_env")) for e in config.catalogue("openai") if e.get("local") and e["name"] != "custom"}
    assert local
    assert local <= set(newcomer)
