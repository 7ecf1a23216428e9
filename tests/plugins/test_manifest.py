"""What a manifest may say, and how a wrong one is answered."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_core import context, hooks
from hermes_core.errors import Incompatible, ManifestError, PluginError
from hermes_core.plugins import manifest as subject
from hermes_core.plugins.manifest import parse_manifest, read_manifest
from hermes_core.records import WHO

GOOD = {"api": 1, "name": "echo", "kind": "provider", "summary": "Repeats."}


def test_every_key_of_the_contract_is_read():
    text = {
        **GOOD,
        "homepage": "https://example.org",
        "contributes": {"providers": ["echo"], "commands": ["echo login"], "slash": ["topic"], "skills": ["skills"]},
        "hooks": {"use": ["transform_outgoing"]},
        "config": {"section": "providers.echo", "class": "hermes_provider_echo.config:Config"},
        "permissions": {"secrets": ["ECHO_KEY"], "kernel": ["llm.call"],
                        "network": ["h"], "processes": ["p"], "files": ["~"]},
        "x-acme": {"anything": True},
    }  # fmt: skip
    found = parse_manifest(text, where="here")
    assert found.label == "provider/echo"
    assert found.contributes["commands"] == ("echo login",)
    assert found.contributes["tools"] == ()
    assert found.hooks == ("transform_outgoing",)
    assert (found.config_section, found.config_class) == ("providers.echo", "hermes_provider_echo.config:Config")
    assert (found.secrets, found.kernel, found.network) == (("ECHO_KEY",), ("llm.call",), ("h",))
    assert (found.processes, found.files, found.homepage) == (("p",), ("~",), "https://example.org")


def test_all_problems_are_named_at_once_with_the_nearest_key():
    wrong = {
        "api": 1, "name": "Big Name", "kind": "tol", "sumary": "x", "contributes": {"tool": ["a"], "slash": "b"},
        "hooks": {"use": ["pre_tool_cal"]}, "config": {"section": "a"},
        "permissions": {"kernel": ["llm.cal"], "secrets": ["A B"]},
    }  # fmt: skip
    with pytest.raises(ManifestError) as caught:
        parse_manifest(wrong, where="some.toml")
    said = caught.value.cause
    for part in (
        "some.toml", "summary is missing", "name must be lower-case", "did you mean tool?", "did you mean summary?",
        "contributes.tool: no such key; did you mean tools?", "contributes.slash must be a list of texts",
        "did you mean pre_tool_call?", "config needs both", "did you mean llm.call?", "permissions.secrets must be",
    ):  # fmt: skip
        assert part in said


def test_a_future_manifest_needs_a_newer_kernel_and_is_not_a_typo():
    with pytest.raises(Incompatible) as caught:
        parse_manifest({"api": 2, "name": "new", "surprise": {}}, where="some.toml")
    assert caught.value.cause == "needs a newer hermes-core (plugin API 2, this is 1)"
    assert caught.value.hint


@pytest.mark.parametrize("api", [None, "1", True, 0, 1.0])
def test_an_api_that_is_no_number_is_refused(api):
    with pytest.raises(ManifestError, match="api must be 1"):
        parse_manifest({**GOOD, "api": api}, where="some.toml")


def test_what_runs_without_a_command_is_one_word():
    found = parse_manifest(
        {**GOOD, "commands": {"talk": {"summary": "Talk.", "default": True}, "be": {"summary": "Be."}}}, where="x"
    )
    told = {words: bool(one.told.get("default")) for words, one in found.records("commands").items()}
    assert told == {"talk": True, "be": False}
    for words, value in (("talk now", True), ("talk", "yes"), ("talk", 1)):
        with pytest.raises(ManifestError, match="default"):
            parse_manifest({**GOOD, "commands": {words: {"summary": "Talk.", "default": value}}}, where="x")


def test_skills_stay_beside_the_manifest():
    for folder in ("../other", "/etc"):
        with pytest.raises(ManifestError, match="folder beside the manifest"):
            parse_manifest({**GOOD, "contributes": {"skills": [folder]}}, where="some.toml")


@pytest.mark.parametrize("name", ["..", "../tool/other", "a/b", ".well-known", "a b", "a?x", "%2e", "ä", "x*", "a\n"])
def test_a_route_is_named_by_one_word_of_a_path(name):
    with pytest.raises(ManifestError, match="must be the last word of a path"):
        parse_manifest({**GOOD, "contributes": {"routes": ["hook-1.json", name]}}, where="some.toml")


def test_a_prefix_declares_names_known_only_at_run_time():
    found = parse_manifest({**GOOD, "contributes": {"tools": ["mcp_*", "now"]}}, where="x")
    assert found.declares("tools", "mcp_search")
    assert found.declares("tools", "now")
    assert not found.declares("tools", "later")


def test_a_single_file_carries_its_manifest_in_a_comment(tmp_path):
    path = tmp_path / "echo.py"
    path.write_text(
        '"""Echo."""\n# /// hermes\n# api = 1\n# name = "echo"\n# kind = "tool"\n# summary = "S."\n#\n'
        '# [contributes]\n# tools = ["echo"]\n# ///\nimport os\n'
    )
    assert read_manifest(path).contributes["tools"] == ("echo",)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.py", "print(1)\n", "no manifest, or more than one"),
        ("hermes-plugin.toml", "api = \n", "cannot be read"),
        ("hermes-plugin.toml", None, "has no manifest"),
        ("hermes-plugin.toml", b"\xff\xfe", "cannot be read"),
    ],
)
def test_an_unreadable_manifest_names_its_file(tmp_path, name, content, said):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ManifestError) as caught:
        read_manifest(path)
    assert said in caught.value.cause
    assert str(path) in str(caught.value)


def test_the_cheap_lists_repeat_the_ground_floor_exactly():
    specs = {name: hooks.mode_of(f) for name, f in vars(hooks).items() if hasattr(f, "hermes_mode")}
    assert set(subject.HOOKS) == {name for name, mode in specs.items() if mode != "contribute"}
    assert subject.KERNEL == context.KERNEL_PERMISSIONS


LEAVES = st.one_of(
    st.booleans(), st.integers(), st.floats(), st.text(max_size=9), st.sampled_from(["tool", "admit", "*"])
)
KEYS = st.sampled_from(
    [*subject._SHAPE[""], *subject._SHAPE["contributes"], *subject.PERMISSIONS, "use", "class", "x-y", "z"]
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))


@settings(suppress_health_check=[HealthCheck.too_slow])  # a fresh clone has no table of characters yet
@given(st.dictionaries(KEYS, VALUES, max_size=8))
def test_any_manifest_is_read_or_refused_in_words(data):
    try:
        said = parse_manifest({"api": 1, **data}, where="some.toml").label
    except PluginError as error:
        said = error.cause
    assert said


WRONG = [
    ("slash", "roll", {}, 'slash."roll".summary is missing'),
    ("slash", "Roll", {"summary": "Rolls."}, 'slash."Roll" must be one word'),
    ("slash", "roll dice", {"summary": "Rolls."}, 'slash."roll dice" must be one word'),
    ("slash", "roll", {"summary": "Rolls.", "who": "root"}, "there is no 'root'; use admin, everyone, person"),
    ("slash", "roll", {"summary": "Rolls.", "where": ["chat", "everywhere"]}, "there is no 'everywhere'"),
    ("slash", "roll", {"summary": "Rolls.", "aliases": ["/dice"]}, "aliases must be one word"),
    ("slash", "roll", {"summary": "Rolls.", "default": True}, "default: no such key"),
    ("slash", "roll", {"summary": "Rolls.", "usege": "N"}, "did you mean usage?"),
    ("setup", "two words", {"summary": "Sets up."}, "must be one word"),
    ("setup", "dice", {"summary": "Sets up.", "who": "admin"}, "there is no 'admin'"),
    ("commands", "roll", {"summary": "Rolls.", "who": "admin"}, "there is no 'admin'"),
    ("commands", "roll", {"summary": "Rolls.", "examples": "hermes roll"}, "must be a list of texts"),
    ("commands", "roll", "Rolls.", "must be a table"),
]


@pytest.mark.parametrize(("table", "name", "row", "text"), WRONG)
def test_what_is_wrong_with_a_record_is_told(table, name, row, text):
    with pytest.raises(ManifestError) as caught:
        parse_manifest({**GOOD, table: {name: row}}, where="x")
    assert text in caught.value.cause


def test_records_say_what_people_see_of_everything():
    found = parse_manifest(
        {
            **GOOD,
            "commands": {
                "dice": {"summary": "Dice.", "group": "Play"},
                "dice roll": {"summary": "Roll.", "who": "person"},
            },
            "slash": {"roll": {"summary": "roll", "aliases": ["dice"], "examples": ["/roll 6"]}},
            "setup": {"dice": {"summary": "How many.", "who": "everyone"}},
            "config": {"section": "tools.dice", "class": "dice:Config", "summary": "Sides.", "group": "Play"},
        },
        where="x",
    )
    seen = {t: [(r.words, r.summary, r.group, r.who, r.owner) for r in found.records(t).values()] for t in WHO}
    label = found.label
    assert seen == {
        "commands": [("dice", "Dice.", "Play", "everyone", label), ("dice roll", "Roll.", "Play", "person", label)],
        "slash": [("roll", "roll", "", "admin", label)],
        "setup": [("dice", "How many.", "", "everyone", label)],
        "config": [("tools.dice", "Sides.", "Play", "person", label)],
    }
    assert found.contributes["slash"] == ("roll", "dice")
    assert found.contributes["commands"] == ("dice roll",)
    assert found.records("slash")["roll"].examples == ("/roll 6",)


@pytest.mark.parametrize("said", [{"section": "a"}, {"summary": "Sides."}, {"class": "dice:Config", "examples": ["x"]}])
def test_settings_need_a_section_and_a_class_whatever_is_said_of_them(said):
    with pytest.raises(ManifestError) as caught:
        parse_manifest({**GOOD, "config": said}, where="x")
    assert "config needs both section and class" in caught.value.cause
