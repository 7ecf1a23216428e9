"""Skins: what can be read in each, what a file may say, and which one is shown."""

import asyncio
import unicodedata
from pathlib import Path

import pytest
import yaml
from attrs import fields
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.color import Color
from textual.widgets import Button, Input, OptionList

from hermes_platform_tui.look.builtin import built_in
from hermes_platform_tui.look.colour import BORDER, TEXT, Rgb, contrast, legible
from hermes_platform_tui.look.palette import ALIASES, BASE, NAMES, PAIRS, RULES
from hermes_platform_tui.look.skin import Skin
from hermes_platform_tui.look.skinfile import BrokenSkin, hard_to_read, read_skin
from hermes_platform_tui.look.themes import chosen, load_skins, variable_defaults

OURS = {skin.name: skin for skin in built_in()}
HEXES = st.builds(Rgb, *[st.integers(0, 255)] * 3).map(lambda colour: colour.hex)

# What Textual's own widgets read on what, beyond the pairs of the skin.
TEXTUAL = [
    *((name, behind) for behind in ("background", "surface", "panel") for name in (
        "text", "foreground", "text-muted", "foreground-muted", "text-primary", "text-secondary", "text-accent",
        "text-warning", "text-error", "text-success", "link-color", "markdown-h1-color", "markdown-h6-color",
    )),
    *((name, role) for role in ("primary", "secondary", "accent", "success", "warning", "error")
      for name in ("text", "button-color-foreground")),
    *((f"text-{role}", f"{role}-muted") for role in ("primary", "secondary", "accent", "success", "warning", "error")),
    ("block-cursor-foreground", "block-cursor-background"),
    ("block-cursor-blurred-foreground", "block-cursor-blurred-background"),
    ("foreground", "block-hover-background"),
    ("footer-key-foreground", "footer-background"),
    ("footer-description-foreground", "footer-background"),
    ("input-selection-foreground", "input-selection-background"),
    ("screen-selection-foreground", "screen-selection-background"),
    ("input-cursor-foreground", "input-cursor-background"),
    ("link-color-hover", "link-background-hover"),
]  # fmt: skip


def ratio(variables: dict[str, str], name: str, behind: str) -> float:
    ground = Color.parse(variables[behind])
    value = variables[name]
    share = float(value[5:-1]) / 100 if value.startswith("auto ") else None
    colour = Color.parse(value) if share is None else ground.get_contrast_text(share)
    return contrast(Rgb(*(ground + colour).rgb), Rgb(*ground.rgb))


@pytest.mark.parametrize("skin", OURS.values(), ids=lambda skin: skin.name)
def test_everything_can_be_read_in_a_built_in_skin(skin: Skin) -> None:
    colours = {name: Rgb.parse(value) for name, value in skin.colors.items()}
    poor = [pair for pair in PAIRS if contrast(*(colours[name] for name in pair)) < TEXT]
    poor += [pair for pair in RULES if contrast(*(colours[name] for name in pair)) < BORDER]
    variables = {**skin.theme().to_color_system().generate(), **skin.theme().variables}
    poor += [pair for pair in TEXTUAL if ratio(variables, *pair) < TEXT]
    poor += [(rule, "background") for rule in ("border", "border-blurred", "scrollbar")
             if ratio(variables, rule, "background") < BORDER]  # fmt: skip
    assert not poor
    assert colours["background"].dark is skin.dark


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast(Rgb(0, 0, 0), Rgb(255, 255, 255)) == pytest.approx(21)
    assert contrast(Rgb.parse("#777"), Rgb.parse("#ffffff")) == pytest.approx(4.48, abs=0.01)  # known to fail AA


@given(colour=HEXES, behind=HEXES)
def test_a_colour_can_be_made_legible_on_any_other(colour: str, behind: str) -> None:
    ground = Rgb.parse(behind)
    assert contrast(legible(Rgb.parse(colour), ground), ground) >= TEXT


def test_the_names_are_those_people_know() -> None:
    assert set(OURS) == {
        "default", "ares", "mono", "slate", "daylight", "warm-lightmode", "poseidon", "sisyphus", "charizard",
    }  # fmt: skip
    assert sum(not skin.dark for skin in OURS.values()) >= 2
    assert not [skin.name for skin in OURS.values() if not skin.description]
    assert len({skin.colors["primary"] for skin in OURS.values()}) == len(OURS)


class Window(App[None]):
    CSS = "Screen { background: $background } #own { color: $status-critical; background: $diff-added-background }"

    def __init__(self) -> None:
        super().__init__()
        for skin in OURS.values():
            self.register_theme(skin.theme())
            self.register_theme(Skin(**{**_fields(skin.plain()), "name": f"{skin.name}-plain"}).theme())
        self.theme = "default"

    def compose(self) -> ComposeResult:
        yield Button("Press", id="own", variant="primary")
        yield Input("words")
        yield OptionList("one", "two")


def _fields(skin: Skin) -> dict[str, object]:
    return {name: getattr(skin, name) for name in (one.name for one in fields(Skin))}


async def test_every_theme_can_be_put_on_while_the_application_runs() -> None:
    app = Window()
    async with app.run_test() as pilot:
        for skin in OURS.values():
            app.theme = skin.name
            await pilot.pause()
            assert app.screen.styles.background.hex6.lower() == skin.colors["background"]
            assert app.query_one("#own").styles.color.hex6.lower() == skin.colors["status_critical"]
            app.theme = f"{skin.name}-plain"
            await pilot.pause()
            assert app.screen.styles.background.ansi == -1


async def test_styles_with_our_colours_suit_themes_that_are_not_ours() -> None:
    class Guest(Window):
        def get_theme_variable_defaults(self) -> dict[str, str]:
            return variable_defaults()

    app = Guest()
    async with app.run_test() as pilot:
        for name in ("nord", "textual-light", "ansi-dark"):
            app.theme = name
            await pilot.pause()
            assert app.query_one("#own").styles.color.hex6.lower() == OURS["default"].colors["status_critical"]


def test_a_plain_skin_has_nothing_beyond_ascii() -> None:
    for skin in OURS.values():
        plain = skin.plain()
        texts = [plain.tool_prefix, *plain.spinner.frames, *plain.spinner.verbs, *_branding(plain)]
        assert all(text.isascii() for text in texts)
        assert all(texts)


def _branding(skin: Skin) -> list[str]:
    return [getattr(skin.branding, name) for name in (one.name for one in fields(type(skin.branding)))]


MINE = """\
description: My own
dark: true
colors:
  primry: "#ff0000"
  accent: #ff0000
  error: nored
  ui_ok: "#00ff00"
  ui_ok: "#00ff01"
spinner:
  verbs: ["\\e[31mx"]
  wings: [["<"]]
brandin: {}
"""


def test_a_broken_skin_is_told_with_line_and_name(tmp_path: Path) -> None:
    (tmp_path / "skins").mkdir()
    (tmp_path / "skins/mine.yaml").write_text(MINE)
    skins = load_skins(tmp_path)
    assert len(skins.problems) == 1
    assert skins.problems[0].splitlines() == [
        "skins/mine.yaml:4 colors.primry: no such colour; did you mean primary?",
        'skins/mine.yaml:5 colors.accent: is empty; write a colour in quotes: "#1e90ff"',
        "skins/mine.yaml:6 colors.error: 'nored' is not a colour; write \"#1e90ff\" or a name of CSS",
        "skins/mine.yaml:8 colors.ui_ok: is given twice",
        "skins/mine.yaml:10 spinner.verbs[0]: has characters that a terminal would obey",
        "skins/mine.yaml:11 spinner.wings[0]: must be two texts, left and right",
        "skins/mine.yaml:12 brandin: no such key; did you mean branding?",
    ]
    assert "mine" not in skins
    assert skins.get("mine") is skins.get("default")
    assert skins.explain("mine") == skins.problems[0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- a\n- b\n", "skins/x.yaml:1: must be a mapping of names to values"),
        ("colors: [a", "skins/x.yaml:2: is not YAML"),
        ("a: " + "[" * 60_000, "skins/x.yaml: is not YAML: too deeply nested"),
        ("description: " + "x" * 70_000, "skins/x.yaml: is longer than 64 KB"),
        ("extends: posidon", "skins/x.yaml:1 extends: no such built-in skin; did you mean poseidon?"),
        ("dark: maybe", "skins/x.yaml:1 dark: must be true or false"),
        ("branding: {welcome: [a]}", "skins/x.yaml:1 branding.welcome: must be text"),
        ("branding: {welcome: \"a\\u202eb\"}", "skins/x.yaml:1 branding.welcome: has characters that a terminal"),
        ("spinner: {frames: a}", "skins/x.yaml:1 spinner.frames: must be a list"),
        ("colors: {primary: '#ffffff80'}", "skins/x.yaml:1 colors.primary: '#ffffff80' is not a colour"),
        ("tool_prefix: more than eight", "skins/x.yaml:1 tool_prefix: is longer than 8 characters"),
    ],
)  # fmt: skip
def test_what_can_be_wrong(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "skins").mkdir()
    (tmp_path / "skins/x.yaml").write_text(text)
    skins = load_skins(tmp_path)
    assert [problem[: len(told)] for problem in skins.problems] == [told]
    assert "x" not in skins


def test_files_that_are_no_skins(tmp_path: Path) -> None:
    (tmp_path / "skins").mkdir()
    (tmp_path / "skins/auto.yaml").write_text("")
    (tmp_path / "skins/odd.yaml").write_bytes(b"\xff\xfe")
    (tmp_path / "skins/notes.txt").write_text("colors: 1")
    (tmp_path / "skins/folder.yaml").mkdir()
    assert load_skins(tmp_path).problems == (
        "skins/auto.yaml: a skin cannot have this name",
        "skins/odd.yaml: cannot be read: it is not UTF-8",
    )
    assert load_skins(tmp_path / "nowhere").names == tuple(OURS)


def test_what_is_missing_is_inherited(tmp_path: Path) -> None:
    (tmp_path / "skins").mkdir()
    (tmp_path / "skins/a.yaml").write_text("colors: {banner_title: gold}\nbranding: {goodbye: Bye}\n")
    (tmp_path / "skins/b.yml").write_text("dark: false\n")
    (tmp_path / "skins/c.yaml").write_text("extends: mono\ncolors: {success: '#9f9'}\nspinner: {thinking_verbs: [hm]}")
    (tmp_path / "skins/ares.yaml").write_text("description: mine now")
    skins = load_skins(tmp_path)
    assert skins.problems == ()
    assert skins.names == (*OURS, "a", "b", "c")
    default, mono = OURS["default"], OURS["mono"]
    a = skins.get("a")
    follow = ("primary", "focus", "response_border", "link", "status_strong", "menu_current_background")
    assert a.colors == default.colors | dict.fromkeys(follow, "#ffd700")
    assert (a.branding.goodbye, a.branding.welcome) == ("Bye", default.branding.welcome)
    assert skins.get("b").colors == OURS["daylight"].colors
    assert not skins.get("b").dark
    assert skins.get("c").spinner.verbs == ("hm",)
    # mono gives its own colour for added lines, which follows when what it follows from is another.
    assert skins.get("c").colors["diff_added"] == "#99ff99"
    assert skins.get("c").colors["diff_removed"] == mono.colors["diff_removed"]
    assert skins.get("ares").description == "mine now"


def test_what_is_hard_to_read_is_told_and_used(tmp_path: Path) -> None:
    (tmp_path / "skins").mkdir()
    (tmp_path / "skins/dim.yaml").write_text("colors: {muted: '#333333'}")
    skins = load_skins(tmp_path)
    assert "dim" in skins
    assert len(skins.problems) == 1
    assert skins.problems[0].startswith(
        "skins/dim.yaml: hard to read: muted on background (1.5:1, 4.5:1 is wanted) and "
    )
    assert not [skin.name for skin in OURS.values() if hard_to_read(skin)]


def test_aliases_are_names_of_ours() -> None:
    assert set(ALIASES.values()) <= set(NAMES)
    assert not set(ALIASES) & set(NAMES)


@given(colours=st.dictionaries(st.sampled_from(sorted({*NAMES, *ALIASES})), HEXES))
def test_a_colour_that_is_given_is_the_one_shown(colours: dict[str, str]) -> None:
    skin = read_skin("x", "x.yaml", yaml.safe_dump({"colors": colours}), OURS)
    for name in NAMES:
        others = {value for alias, value in colours.items() if ALIASES.get(alias) == name}
        if name in colours:
            assert skin.colors[name] == colours[name]
        elif others:
            assert skin.colors[name] in others
        elif name in BASE:
            assert skin.colors[name] == OURS["default"].colors[name]
    assert skin.theme().to_color_system().generate()


WORDS = st.sampled_from(["colors", "dark", "spinner", "wings", "branding", "tool_emojis", "primary", "name", "é\u202e"])
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(text=TREES.map(lambda tree: yaml.safe_dump(tree, allow_unicode=True)) | st.text(max_size=200))
def test_no_file_can_do_more_than_be_refused(text: str) -> None:
    try:
        skin = read_skin("x", "skins/x.yaml", text, OURS)
    except BrokenSkin as error:
        problems = error.problems
    else:
        assert skin.theme().name == "x"
        assert not any(map(obeyed, _branding(skin)))
        return
    assert problems
    assert all(problem.startswith("skins/x.yaml") for problem in problems)
    assert not any(map(obeyed, problems))


def obeyed(text: str) -> bool:
    return any(unicodedata.category(sign) in {"Cc", "Cs", "Zl", "Zp"} or sign in "\u202e\u2066\u200f" for sign in text)


@pytest.mark.parametrize(
    ("configured", "environ", "background", "name"),
    [
        ("auto", {}, None, "default"),
        ("auto", {}, Rgb(250, 250, 240), "daylight"),
        ("auto", {}, Rgb(20, 20, 40), "default"),
        ("auto", {"COLORFGBG": "0;15"}, Rgb(0, 0, 0), "daylight"),
        ("auto", {"COLORFGBG": "15;default;0"}, Rgb(255, 255, 255), "default"),
        ("auto", {"COLORFGBG": "15;default"}, Rgb(255, 255, 255), "daylight"),
        ("ares", {"COLORFGBG": "0;15"}, Rgb(255, 255, 255), "ares"),
        ("ares", {"HERMES_TUI_THEME": "light"}, None, "daylight"),
        ("ares", {"HERMES_TUI_THEME": "dark"}, None, "ares"),
        ("warm-lightmode", {"HERMES_TUI_THEME": "light"}, None, "warm-lightmode"),
        ("ares", {"HERMES_TUI_THEME": "poseidon"}, None, "poseidon"),
        ("ares", {"HERMES_TUI_THEME": "auto"}, None, "ares"),
        ("auto", {"HERMES_TUI_THEME": "nonsense", "COLORFGBG": "0;15"}, None, "nonsense"),
    ],
)
def test_which_skin_is_shown(
    tmp_path: Path, configured: str, environ: dict[str, str], background: Rgb | None, name: str
) -> None:
    assert chosen(configured, environ, background, load_skins(tmp_path)) == name


def test_a_name_that_is_none(tmp_path: Path) -> None:
    skins = load_skins(tmp_path)
    assert skins.explain("posidon") == "There is no skin 'posidon'; did you mean poseidon?"
    assert skins.explain("ares") == ""
    assert "\x1b" not in skins.explain("\x1b[31mred")


def test_reading_skins_needs_no_event_loop() -> None:
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
    assert OURS["default"].theme().dark
