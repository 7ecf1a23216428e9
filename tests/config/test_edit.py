"""Writing settings leaves everything else in the file as it was."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hermes_core.config.edit import set_text, set_value, unset_value
from hermes_core.config.paths import Home
from hermes_core.config.settings import get_value, load_settings
from hermes_core.errors import ConfigError, UnknownName, UserError
from hermes_core.options import Secret, gt, option, settings
from hermes_yaml_edit.document import Document

WRITTEN = """\
# My settings.
model: {provider: custom, base_url: "http://127.0.0.1:8199/v1", api_key: x, default: tools-20}

agent:   # how it works
  # many calls
  max_calls:   50   # enough
  tool_workers: 4

  disabled_tools:
    - shell   # never
    # and also
    - "web"

# where things run
terminal:
platforms:
  telegram: {poll: 1}
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def write(home: Home, text: str) -> None:
    home.config_file.write_bytes(text.encode())


def text(home: Home) -> str:
    return home.config_file.read_bytes().decode()


def test_a_value_is_replaced_where_it_stands(home: Home) -> None:
    write(home, WRITTEN)
    set_value(home, "agent.max_calls", 70)
    assert text(home) == WRITTEN.replace("max_calls:   50   # enough", "max_calls:   70   # enough")


def test_a_value_in_braces_is_replaced_where_it_stands(home: Home) -> None:
    write(home, WRITTEN)
    set_value(home, "model.default", "a, {b}: c")
    assert text(home) == WRITTEN.replace("default: tools-20}", "default: 'a, {b}: c'}")
    assert load_settings(home).config.model.default == "a, {b}: c"


def test_a_new_value_goes_to_the_end_of_its_section(home: Home) -> None:
    write(home, WRITTEN)
    set_value(home, "agent.identity", "Hermes")
    assert text(home) == WRITTEN.replace('    - "web"\n', '    - "web"\n  identity: Hermes\n')
    write(home, WRITTEN)
    set_value(home, "model.effort", "high")
    assert text(home) == WRITTEN.replace("tools-20}", "tools-20, effort: high}")
    write(home, WRITTEN)
    set_value(home, "terminal.cwd", "/tmp")
    assert text(home) == WRITTEN.replace("terminal:\n", "terminal:\n  cwd: /tmp\n")


def test_new_sections_are_made(home: Home) -> None:
    set_value(home, "providers.acme.headers", {"X-Team": "a"})
    set_value(home, "toolsets", ["files"])
    assert text(home) == "providers:\n  acme:\n    headers:\n      X-Team: a\ntoolsets: [files]\n"
    assert home.config_file.stat().st_mode & 0o777 == 0o600


def test_a_value_of_many_lines_is_replaced_whole_and_its_comment_lines_stay(home: Home) -> None:
    write(home, WRITTEN)
    set_value(home, "agent.disabled_tools", ["one"])
    expected = '  disabled_tools:\n    - shell   # never\n    # and also\n    - "web"\n'
    assert text(home) == WRITTEN.replace(expected, "  disabled_tools: [one]\n    # and also\n")


def test_a_list_as_deep_as_its_name_is_replaced_too(home: Home) -> None:
    write(home, "toolsets:\n- files\nagent: {}\n")
    set_value(home, "toolsets", ["web"])
    assert text(home) == "toolsets: [web]\nagent: {}\n"


def test_a_comment_in_braces_is_never_lost(home: Home) -> None:
    write(home, "agent: {max_calls: 5, # few\n  tool_workers: 2}\n")
    unset_value(home, "agent.tool_workers")
    assert text(home) == "agent: {max_calls: 5 # few\n}\n"
    write(home, "platforms: {x: {k: {a: 1, # one\n  b: 2}}, y: {}}\n")
    with pytest.raises(UserError, match="by hand"):
        set_value(home, "platforms.x.k", 3)


def test_an_unset_value_goes_and_its_neighbors_stay(home: Home) -> None:
    write(home, WRITTEN)
    assert unset_value(home, "agent.tool_workers")
    assert text(home) == WRITTEN.replace("  tool_workers: 4\n", "")
    assert not unset_value(home, "agent.tool_workers")
    write(home, WRITTEN)
    unset_value(home, "model.base_url")
    assert text(home) == WRITTEN.replace('base_url: "http://127.0.0.1:8199/v1", ', "")
    write(home, WRITTEN)
    unset_value(home, "model.default")
    assert text(home) == WRITTEN.replace(", default: tools-20", "")


def test_a_section_left_empty_goes_too(home: Home) -> None:
    write(home, WRITTEN)
    unset_value(home, "platforms.telegram.poll")
    assert text(home) == WRITTEN.replace("platforms:\n  telegram: {poll: 1}\n", "")


def test_a_bare_model_name_becomes_a_section_when_more_is_said(home: Home) -> None:
    write(home, "model: custom:m1 # mine\n")
    set_value(home, "model.effort", "low")
    model = load_settings(home).config.model
    assert (model.provider, model.default, model.effort) == ("custom", "m1", "low")


def test_the_other_name_of_the_model_is_kept(home: Home) -> None:
    write(home, "model: {model: m1}\n")
    set_value(home, "model.default", "m2")
    assert text(home) == "model: {model: m2}\n"


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_line_ends_mode_byte_order_mark_and_links_are_kept(home: Home, tmp_path: Path, line_end: str) -> None:
    real = tmp_path / "dotfiles.yaml"
    real.write_bytes(b"\xef\xbb\xbf" + WRITTEN.replace("\n", line_end).encode())
    real.chmod(0o640)
    home.config_file.symlink_to(real)
    set_value(home, "agent.identity", "é 한국어")
    expected = WRITTEN.replace('    - "web"\n', '    - "web"\n  identity: é 한국어\n').replace("\n", line_end)
    assert real.read_bytes() == b"\xef\xbb\xbf" + expected.encode()
    assert real.stat().st_mode & 0o777 == 0o640
    assert home.config_file.is_symlink()


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("agent: &a {max_calls: 5}\nplatforms: {x: *a}\n", "agent.max_calls"),
        ("platforms: {x: &a {b: 1}, y: *a}\n", "platforms.y.b"),
        ("agent: !!map {max_calls: 5}\n", "agent.max_calls"),
        ("? agent\n: {max_calls: 5}\n", "agent"),
        ("platforms: {x: &a {b: 1}, y: {<<: *a, c: 2}}\n", "platforms.y.b"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused_and_left_alone(home: Home, written: str, key: str) -> None:
    write(home, written)
    with pytest.raises(UserError, match=r"config\.yaml:1 is written in a way .*\n.*by hand"):
        unset_value(home, key)
    assert text(home) == written


def test_a_value_the_schema_refuses_is_not_written(home: Home) -> None:
    write(home, WRITTEN)
    for key, value in {"agent.max_calls": 0, "agent.max_cals": 5, "agent": 3, "policy.mode": "never"}.items():
        with pytest.raises(ConfigError):
            set_value(home, key, value)
    with pytest.raises(ConfigError, match="did you mean max_calls"):
        set_value(home, "agent.max_cals", 5)
    assert text(home) == WRITTEN


def test_what_yaml_cannot_hold_plainly_is_refused(home: Home) -> None:
    with pytest.raises(ConfigError, match="a settings file cannot hold date"):
        set_value(home, "agent.identity", date(2024, 1, 1))
    assert not home.config_file.exists()


def test_changes_made_at_the_same_time_are_all_kept(home: Home) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: set_value(home, f"platforms.p.k{n}", n), range(20)))
    assert load_settings(home).raw["platforms"]["p"] == {f"k{n}": n for n in range(20)}


def test_wrong_values_can_be_mended_one_by_one(home: Home) -> None:
    write(home, "agent: {max_calls: 0, tool_workers: 0}\n")
    set_value(home, "agent.max_calls", 1)
    assert text(home) == "agent: {max_calls: 1, tool_workers: 0}\n"


def test_a_plugins_class_guards_its_section(home: Home) -> None:
    @settings
    class Poll:
        """Polling."""

        seconds: float = option("How long.", default=1.0, validator=gt(0))

    with pytest.raises(ConfigError, match=r"platforms\.x\.seconds: must be more than 0"):
        set_value(home, "platforms.x.seconds", -1, sections={"platforms.x": Poll})
    set_value(home, "platforms.x.seconds", 2, sections={"platforms.x": Poll})
    assert text(home) == "platforms:\n  x:\n    seconds: 2\n"


@pytest.mark.parametrize(
    ("key", "typed", "kept"),
    [
        ("agent.max_calls", "100", 100),
        ("model.default", "5", "5"),
        ("security.allow_private_urls", "off", False),
        ("policy.mode", "off", "off"),
        ("agent.identity", "on", "on"),
        ("toolsets", "[files, web]", ["files", "web"]),
        ("model.default", "a: b", "a: b"),
        ("platforms.x.count", "3", 3),
        ("agent.identity", "[x", "[x"),
    ],
)
def test_typed_words_become_what_the_setting_asks_for(home: Home, key: str, typed: str, kept: object) -> None:
    set_text(home, key, typed)
    data = yaml.safe_load(text(home))
    for step in key.split("."):
        data = data[step]
    assert data == kept
    assert type(data) is type(kept)


def test_typed_words_that_do_not_fit_are_refused_for_what_they_mean(home: Home) -> None:
    with pytest.raises(ConfigError, match="must be at least 1, not 0"):
        set_text(home, "agent.max_calls", "0")


def test_values_in_force_are_read_with_their_defaults(home: Home) -> None:
    write(home, WRITTEN)
    loaded = load_settings(home)
    assert get_value(loaded, "agent.max_calls") == 50
    assert get_value(loaded, "agent.tool_seconds") == 420.0
    assert get_value(loaded, "platforms.telegram.poll") == 1
    assert isinstance(get_value(loaded, "model.api_key"), Secret)
    with pytest.raises(UnknownName, match="max_calls"):
        get_value(loaded, "agent.max_cals")


# --- any small file, any change -----------------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "c", "on", "12", "x y", "é"])
SCALARS = st.one_of(
    st.integers(-5, 5),
    st.booleans(),
    st.none(),
    st.floats(-2, 2, allow_nan=False, width=16),
    st.text(alphabet="ab #:{}[],'\"\n-é?&*!|>%@`\t\\", max_size=8),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
MAPPINGS = st.dictionaries(NAMES, VALUES, max_size=4)


@st.composite
def files(draw: st.DrawFn) -> str:
    """A mapping written by PyYAML in some style, with comments and blank lines strewn between its lines."""
    data = draw(MAPPINGS)
    if not data:
        return draw(st.sampled_from(["", "# nothing\n", "\n\n", "---\n", "{}\n"]))
    flow = draw(st.sampled_from([False, None, True]))
    dumped = yaml.safe_dump(data, default_flow_style=flow, allow_unicode=True, indent=draw(st.sampled_from([2, 4])))
    lines = []
    for number, line in enumerate(dumped.splitlines(keepends=True)):
        strewn = draw(st.sampled_from(["", "", "", "\n", f"# c{number}\n", f"      # deep {number}\n"]))
        candidate = "".join(lines) + strewn + "".join(dumped.splitlines(keepends=True)[number:])
        lines += [strewn, line] if strewn and same(candidate, data) else [line]
    written = "".join(lines) + draw(st.sampled_from(["", "# end\n", "\n"]))
    return written if same(written, data) else dumped


def same(written: str, data: object) -> bool:
    try:
        return bool(yaml.safe_load(written) == data)
    except yaml.YAMLError:
        return False


def comment_lines(written: str) -> list[str]:
    return [line.strip() for line in written.splitlines() if line.strip().startswith(("# c", "# deep", "# end"))]


@pytest.mark.long
@hypothesis_settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(files(), st.lists(NAMES, min_size=1, max_size=3), st.integers(0, 30), VALUES, st.booleans())
@example("a:\n  b: |\n    # c no comment\n    x\n\n# c1\nc: 1\n", ["a", "b"], 0, 5, True)
@example("a:\n  b: |\n    # no comment\n    x\n\n# c1\nc: 1\n", ["a"], 0, 5, False)
@example("a: 'x\n\n  y'\n# c1\nb: [1, # c\n  # c2\n  2]\n", ["b"], 0, {"c": 1}, True)
def test_any_change_gives_the_wanted_mapping_or_changes_nothing(
    tmp_path: Path, written: str, keys: list[str], chosen: int, value: object, setting: bool
) -> None:
    home = Home(tmp_path)
    there = paths(Document(written, "x").data)
    path = ["platforms", "p", *(there[chosen % len(there)] if chosen and there else keys)]
    indented = "".join(f"    {line}" for line in written.splitlines(keepends=True))
    body = indented if Document(written, "x").data else ""
    write(home, f"platforms:\n  p:\n{body}" if same(f"x:\n{body}", {"x": Document(written, "x").data or None}) else "")
    before = Document(text(home), "config.yaml").data
    old = text(home)
    try:
        key = ".".join(path)
        changed = set_value(home, key, value) is None if setting else unset_value(home, key)
    except UserError:
        assert text(home) == old
        return
    after = Document(text(home), "config.yaml").data
    assert after == (put(before, path, value) if setting else drop(before, path) if changed else before)
    spoken = [line for line in comment_lines(old) if "no comment" not in line]
    assert [line for line in comment_lines(text(home)) if "no comment" not in line] == spoken


def paths(data: object) -> list[list[str]]:
    if not isinstance(data, dict):
        return []
    return [[key, *rest] for key, inner in data.items() for rest in ([], *paths(inner))]


def put(data: dict, path: list[str], value: object) -> dict:
    rest = put(data.get(path[0]) or {}, path[1:], value) if len(path) > 1 else value
    return {**data, path[0]: rest}


def drop(data: dict, path: list[str]) -> dict:
    kept = {key: item for key, item in data.items() if key != path[0]}
    inner = drop(data[path[0]], path[1:]) if len(path) > 1 else None
    return {**data, path[0]: inner} if inner else kept
