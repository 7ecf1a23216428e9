"""The frontmatter of SKILL.md: what is read, and that nothing it can hold breaks the reader."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hermes_tool_skills.frontmatter import BadSkill, from_plain, parse, to_plain

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
            head, body = parse(whole)
        except BadSkill:
            continue
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
