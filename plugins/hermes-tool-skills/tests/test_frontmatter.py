"""The frontmatter of SKILL.md: what is read, and that nothing it can hold breaks the reader."""

import tomllib
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hermes_tool_skills.frontmatter import BadSkill, from_plain, parse, to_plain
from hermes_tool_skills.standard import breaches

FULL = """---
name: full.skill_1
description: >
  Use it
  when it fits.
version: 1.2
author: Hana
license: MIT
compatibility: any
allowed-tools: [terminal, web]
platforms: [linux, macos, windows]
environments: docker
required_environment_variables:
  - name: ACME_KEY
    prompt: The key
    help: on the account page
    required_for: everything
  - OTHER_KEY
required_credential_files: [token.json]
prerequisites:
  env_vars: [OLD_KEY]
  commands: [jq]
metadata:
  author: x
  hermes:
    tags: [a, b]
    category: work
    related_skills: [other]
    requires_toolsets: [web]
    requires_tools: [terminal]
    fallback_for_toolsets: [browser]
    fallback_for_tools: [x]
    config:
      - key: acme.region
        description: where
        default: eu
        prompt: Which region?
    blueprint: {schedule: daily}
unknown: {kept: out}
---
# Body
"""


def test_every_field_is_read() -> None:
    head, body = parse(FULL, folder="full.skill_1")
    assert body == "# Body"
    assert (head.name, head.description, head.version) == ("full.skill_1", "Use it when it fits.", "1.2")
    assert [v.name for v in head.variables] == ["ACME_KEY", "OTHER_KEY", "OLD_KEY"]
    assert (head.environments, head.commands, head.allowed_tools) == (("docker",), ("jq",), "terminal web")
    assert (head.requires_tools, head.fallback_for_toolsets) == (("terminal",), ("browser",))
    assert head.config == ({"key": "acme.region", "description": "where", "default": "eu", "prompt": "Which region?"},)
    assert from_plain(to_plain(head)) == head


BOMB = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))


@pytest.mark.parametrize(
    ("head", "problem"),
    [
        ("", "name is missing; description is missing"),
        ("a word", "SKILL.md:2: must hold"),
        ("name: a", "description is missing"),
        ("description: d", "name is missing"),
        ("name: A\ndescription: d", "lower-case"),
        ("name: -a\ndescription: d", "lower-case"),
        (f"name: {'a' * 65}\ndescription: d", "1 to 64"),
        (f"name: a\ndescription: {'d' * 1025}", "1,024 is the most"),
        ("name: a\ndescription: d\nplatforms: [amiga]", "there is no 'amiga'"),
        ("name: a\ndescription: d\nenvironments: 7", "must be a list of texts"),
        ("name: a\ndescription: [d]", "must be a text"),
        ("name: a\ndescription: d\nrequired_environment_variables: [{help: x}]", "entries with a name"),
        ("name: a\ndescription: d\nrequired_environment_variables: ['A-B']", "not the name of a variable"),
        ("name: a\ndescription: d\nmetadata: [x]", "must be a table"),
        ("name: a\ndescription: d\nmetadata: {hermes: {tags: [1]}}", "metadata.hermes.tags must be"),
        ("name: a\ndescription: use: it", "put a text that holds a colon into quotes"),
        ("name: a\nname: b\ndescription: d", "SKILL.md:3 name: is given twice, first in line 2"),
        (f"a0: &a0 [x]\n{BOMB}", "stands for too much"),
        ("name: a\ndescription: d\nx: !!python/object/apply:os.system ['id']", "has no meaning here"),
        (f"name: a\ndescription: d\nx: {'[' * 15_000}", "too deeply nested"),
        (f"name: a\ndescription: d\nx:\n{'- ' * 7_000}", "too deeply nested"),
        (f"name: a\ndescription: d\n{'? ' * 7_000}", "too deeply nested"),
        (f"name: a\ndescription: d\nx: {'y' * 17000}", "16,000 is the most"),
        ('name: a\ndescription: "a\\u200bb"', "cannot be seen"),
    ],
)
def test_what_is_wrong_is_said(head: str, problem: str) -> None:
    with pytest.raises(BadSkill, match=problem):
        parse(f"---\n{head}\n---\nbody\n")


def test_all_problems_are_said_at_once() -> None:
    with pytest.raises(BadSkill) as refused:
        parse("---\nname: A B\nplatforms: [x]\nmetadata: 7\n---\n")
    assert len(refused.value.problems) == 5


@pytest.mark.parametrize("text", ["", "---", "---\n---", "--- \nname: a", "\n---\nname: a\n---\nx", "name: a"])
def test_without_frontmatter_it_is_no_skill(text: str) -> None:
    with pytest.raises(BadSkill):
        parse(text)


@given(st.text(max_size=2_000))
def test_any_text_is_read_or_refused(text: str) -> None:
    for whole in (text, f"---\n{text}\n---\nbody", f"---\nname: a\ndescription: d\n{text}\n---\nbody"):
        try:
            head, body = parse(whole, foreign=True)
        except BadSkill:
            continue
        assert isinstance(breaches(whole), list)
        assert head.name
        assert body
        assert len(head.description) <= 1_024
        assert from_plain(to_plain(head)) == head


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.dates(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
KEYS = ("name", "description", "version", "platforms", "environments", "metadata", "prerequisites", "allowed-tools")
KEYS += ("required_environment_variables", "required_credential_files", "license")


@given(
    st.dictionaries(st.sampled_from(KEYS), JSON),
    st.dictionaries(st.sampled_from(["tags", "config", "blueprint"]), JSON),
)
@pytest.mark.long
def test_any_values_are_read_or_refused(fields: dict, ours: dict) -> None:
    text = yaml.safe_dump({"name": "a", "description": "d", "metadata": {"hermes": ours}, **fields}, allow_unicode=True)
    try:
        head, _ = parse(f"---\n{text}---\nbody")
    except BadSkill:
        return
    assert from_plain(to_plain(head)) == head


NAME = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,63}", fullmatch=True).filter(lambda n: ".." not in n)
LINE = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=200)


@given(NAME, LINE, st.lists(LINE, max_size=3))
def test_what_is_written_comes_back(name: str, description: str, tags: list[str]) -> None:
    data = {"name": name, "description": description, "metadata": {"hermes": {"tags": tags}}}
    text = f"---\n{yaml.safe_dump(data, allow_unicode=True)}---\n\nbody\n"
    head, body = parse(text, folder=name)
    assert (head.name, head.description, head.tags, body) == (name, description, tuple(tags), "body")


# --- the standard -------------------------------------------------------------------------------------------------

OFFICIAL = {
    name: row["head"]
    for name, row in tomllib.loads((Path(__file__).with_name("data") / "frontmatter.toml").read_text()).items()
}


@pytest.mark.parametrize("name", OFFICIAL)
def test_the_frontmatter_of_every_official_skill_is_read(name: str) -> None:
    assert len(OFFICIAL) == 17
    head, _ = parse(f"---\nname: {name}\n{OFFICIAL[name]}\n---\nbody", folder=name, foreign=True)
    assert head.name == name
    assert head.description.startswith(
        ("Use it", "Art", "Puts", "Texts", "Servers", "GIFs", "Styles", "Pages", "Tests")
    )
    assert len(head.description) <= 1_024
    assert bool(head.remarks) == (name == "claude-api")


def test_what_another_client_puts_up_with_is_mended_and_told() -> None:
    text = f"---\nname: tidy\ndescription: Use this skill when: it's untidy\ncompatibility: {'x' * 600}\n---\nbody"
    with pytest.raises(BadSkill, match="into quotes"):
        parse(text, folder="untidy")
    head, _ = parse(text, folder="untidy", foreign=True)
    assert head.description == "Use this skill when: it's untidy"
    assert len(head.compatibility) == 500
    assert [remark.partition(" ")[0] for remark in head.remarks] == ["a", "compatibility", "name"]


def test_ours_may_stand_under_metadata_as_the_standard_has_it() -> None:
    text = """---
name: tidy
description: d
metadata:
  hermes.requires-tools: terminal web
  hermes.category: work
  hermes:
    platforms: [linux]
    required_environment_variables: [{name: ACME_KEY, help: from the account page}]
---
body
"""
    head, _ = parse(text)
    assert (head.requires_tools, head.category, head.platforms) == (("terminal", "web"), "work", ("linux",))
    assert [(v.name, v.help) for v in head.variables] == [("ACME_KEY", "from the account page")]


def test_what_a_skill_of_clawhub_needs_is_read() -> None:
    head, _ = parse("""---
name: todo
description: d
metadata: {openclaw: {requires: {env: [A_KEY, B_KEY], bins: [curl]}, envVars: [
  {name: A_KEY, description: from the settings}, {name: C_ID, required: false}]}}
---
body
""")
    assert [(v.name, v.help) for v in head.variables] == [("A_KEY", "from the settings"), ("B_KEY", "")]


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("name: tidy-up\ndescription: d\nlicense: MIT\nmetadata: {version: '1.0'}\nallowed-tools: Read Bash", []),
        ("name: tidy_up\ndescription: d", ["name: needs"]),
        ("name: tidy--up\ndescription: d", ["name: needs"]),
        ("name: tidy\ndescription: d", ["name: is tidy, but its folder is called tidy-up"]),
        ("name: tidy-up", ["description: is missing"]),
        ("name: tidy-up\ndescription: d\nversion: 1", ["version: not a field"]),
        ("name: tidy-up\ndescription: d\nmetadata: {version: 1.0}", ["metadata.version: must be a text"]),
        (f"name: tidy-up\ndescription: d\ncompatibility: {'x' * 501}", ["compatibility: has 501"]),
        ("name: tidy-up\ndescription: d\nallowed-tools: [Read]", ["allowed-tools: must be a text"]),
    ],
)
def test_the_standard_is_held_to_the_letter(head: str, said: list[str]) -> None:
    found = breaches(f"---\n{head}\n---\nbody", folder="tidy-up")
    assert len(found) == len(said)
    assert all(one.startswith(start) for one, start in zip(found, said, strict=True))
