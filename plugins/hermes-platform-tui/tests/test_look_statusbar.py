"""The status bar: what it says in how many columns, and that it keeps to its row."""

import subprocess
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content

from hermes_platform_tui.look.builtin import built_in
from hermes_platform_tui.look.figures import money, percent, span, tokens
from hermes_platform_tui.look.indicator import STYLES, Style, frames
from hermes_platform_tui.look.line import fit
from hermes_platform_tui.look.skin import Spinner
from hermes_platform_tui.look.statusbar import Detail, Facts, StatusBar, detail_for, git_branch, level
from hermes_platform_tui.look.statusline import Paint, compact, full, minimal

IDLE = Facts(
    model="claude-sonnet-4-5-20250929",
    provider="anthropic",
    used=45_200,
    window=200_000,
    input_tokens=120_000,
    output_tokens=3_400,
    cache_hits=84.2,
    cost=0.42,
    priced="estimated",
    branch="feature/status-bar",
    title="Mend the failing build",
    cwd="/srv/project",
)
BUSY = attrs.evolve(IDLE, busy=True, seconds=73, queued=2, agents=3, processes=1, used=130_000)
FREE = attrs.evolve(IDLE, mode="off", used=170_000, priced="actual")
FULL = attrs.evolve(IDLE, used=196_000, mode="smart", busy=True)
LOCAL = Facts(model="llama3.3", provider="ollama", used=900, input_tokens=900, output_tokens=20, seconds=8)
HOSTILE = attrs.evolve(IDLE, model="模型" * 20, title="a\u202eb\x1b[31m\nc", branch="[bold]x[/bold]", provider="$error")
STATES = {"idle": IDLE, "busy": BUSY, "off": FREE, "full": FULL, "none": Facts(), "local": LOCAL, "hostile": HOSTILE}


class Window(App[None]):
    CSS = "Screen { background: $background; overflow: hidden } StatusBar { margin: 0 0 1 0 }"

    def __init__(self, skin: str = "default", indicator: Style = "unicode", detail: Detail = "auto") -> None:
        super().__init__()
        self.now = 100.0
        self.indicator, self.detail = indicator, detail
        for known in built_in():
            self.register_theme(known.theme())
        self.theme = skin

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            for name, facts in STATES.items():
                yield StatusBar(
                    facts, detail=self.detail, indicator=self.indicator, clock=lambda: self.now, id=f"s-{name}"
                )

    def bar(self, name: str) -> StatusBar:
        return self.query_one(f"#s-{name}", StatusBar)

    def on_mount(self) -> None:
        for bar in self.query(StatusBar):  # they tick when a test says so
            if bar._timer is not None:
                bar._timer.pause()


async def rows(width: int, **kind: Any) -> dict[str, str]:
    app = Window(**kind)
    async with app.run_test(size=(width, 20)) as pilot:
        await pilot.pause()
        return {name: app.bar(name).render().plain for name in STATES}


@pytest.mark.parametrize(
    ("width", "row"),
    [
        (200, ("⠋ 1m13s  claude-sonnet-4-5-20250929 anthropic  130k/200k ━━━━━━╸─── 65%  2 queued  3 agents  1 process"
              "  ↑120k ↓3.4k  cache 84%  ~$0.42  Mend the failing build  project  ⎇ feature/status-bar  ask")),
        (120, ("⠋ 1m13s  claude-sonnet-4-5  130k/200k ━━━━━━╸─── 65%  2 queued  3 agents  1 process  ~$0.42"
              "  ⎇ feature/status-bar  ask")),
        (80, "⠋ 1m13s  claude-sonnet-4-5  130k/200k ━━━━━━╸─── 65%  2 queued  ~$0.42"),
        (76, "⠋ 1m13s  claude-sonnet-4-5  130k/200k ━━━━━━╸─── 65%  2 queued  ~$0.42"),
        (75, "⠋ 1m13s  claude-sonnet-4-5  ━━━── 65%  2 queued  ~$0.42  ⎇ feature/statu…"),
        (52, "⠋ 1m13s  claude-sonnet-4-5  65%  2 queued  ~$0.42"),
        (51, "⠋ 1m13s  claude-sonnet-4-5-20250929  65%  +2"),
        (40, "⠋ 1m13s  claude-sonnet-4-5  65%  +2"),
        (20, "⠋  claude-…  65%"),
    ],
)  # fmt: skip
async def test_what_is_told_in_how_many_columns(width: int, row: str) -> None:
    told = (await rows(width))["busy"]
    assert [part.strip() for part in told.split("  ") if part.strip()] == row.split("  ")
    assert Content(told).cell_length == width - 2


@pytest.mark.parametrize(
    ("wall", "form", "shown"),
    [
        ("landlock", full, "landlock"),
        ("none", full, "no wall"),
        ("none", compact, "no wall"),
        ("landlock", compact, ""),
        ("none", minimal, ""),
        ("", full, ""),
    ],
)
def test_which_wall_holds(wall: str, form: Any, shown: str) -> None:
    pieces = [piece.forms[0][1].plain for piece in form(attrs.evolve(IDLE, wall=wall), Paint({}, ascii_only=False))]
    assert [text for text in pieces if "wall" in text or "landlock" in text] == ([shown] if shown else [])


async def test_what_each_state_tells() -> None:
    told = await rows(160)
    assert "45.2k/200k" in told["idle"]
    assert "POLICY OFF" in told["off"]
    assert "85%!" in told["off"]
    assert "98%!!" in told["full"]
    assert "smart" in told["full"]
    assert "no model" in told["none"]
    assert "$" not in told["none"]
    assert "900 tokens" in told["local"]  # a window nobody knows has no share
    assert "$?" in told["local"]
    assert "%" not in told["local"]
    assert "[bold]x[/bold]" in told["hostile"]
    assert not set(told["hostile"]) & {"\u202e", "\x1b", "\n"}


async def test_a_policy_that_is_off_is_told_in_every_width() -> None:
    for width in (200, 76, 52, 40, 24):
        assert "OFF" in (await rows(width))["off"]


async def test_plain_signs() -> None:
    told = await rows(80, indicator="ascii")
    assert all(row.isascii() for name, row in told.items() if name != "hostile")
    assert "[#######---] 65%" in told["busy"]


async def test_the_watch_goes_on_by_itself_while_the_agent_is_busy() -> None:
    app = Window()
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        bar = app.bar("busy")
        app.now += 12
        bar.tick()
        assert "⠙ 1m25s" in bar.render().plain
        bar.facts = attrs.evolve(BUSY, queued=0)  # told anew: 73 seconds from now on
        app.now += 1
        assert "1m14s" in bar.render().plain
        bar.facts = attrs.evolve(BUSY, busy=False, seconds=80)
        app.now += 60
        assert bar.render().plain.startswith("● 1m20s")


async def test_it_ticks_only_while_it_is_busy() -> None:
    class Lone(App[None]):
        def compose(self) -> ComposeResult:
            yield StatusBar(LOCAL)

    app = Lone()
    async with app.run_test() as pilot:
        bar = app.query_one(StatusBar)
        await pilot.pause()
        first = bar.render().plain
        assert first.startswith("● 8s")
        bar.facts = attrs.evolve(LOCAL, busy=True)
        shown = {bar.render().plain[0]}
        while len(shown) < 3:
            await pilot.pause()
            shown.add(bar.render().plain[0])
        bar.facts = LOCAL
        assert bar.render().plain == first


async def test_off_takes_no_row() -> None:
    app = Window(detail="off")
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        assert not app.bar("idle").display
        app.bar("idle").detail = "minimal"
        await pilot.pause()
        assert app.bar("idle").display
        assert app.bar("idle").render().plain.split("  ")[:3] == ["●", f"{IDLE.model} anthropic", "23%"]


async def test_a_new_skin_is_put_on_at_once() -> None:
    app = Window()
    async with app.run_test(size=(120, 20)) as pilot:
        for skin in built_in():
            app.theme = skin.name
            await pilot.pause()
            styles = [(segment.text, segment.style) for segment in app.bar("full").render_line(0)]
            shown = {text: style.color.triplet.hex for text, style in styles if style and style.color}
            assert shown["98%!!"] == skin.colors["status_critical"]


async def test_themes_that_are_not_ours_will_do() -> None:
    app = Window()
    async with app.run_test(size=(120, 20)) as pilot:
        for name in ("textual-dark", "textual-light", "ansi-dark", "nord"):
            app.theme = name
            await pilot.pause()
            assert "98%!!" in "".join(segment.text for segment in app.bar("full").render_line(0))


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_looks(snap_compare: Any, width: int) -> None:
    assert snap_compare(Window(), terminal_size=(width, 15))


@pytest.mark.parametrize(("skin", "indicator"), [("daylight", "ascii"), ("charizard", "kaomoji"), ("mono", "emoji")])
def test_looks_in_other_skins(snap_compare: Any, skin: str, indicator: Style) -> None:
    assert snap_compare(Window(skin, indicator), terminal_size=(100, 15))


def test_looks_without_colour(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(Window(), terminal_size=(80, 15))


ANY = st.builds(
    Facts,
    model=st.text(max_size=60),
    provider=st.text(max_size=30),
    used=st.integers(0, 10**13),
    window=st.integers(0, 10**7),
    input_tokens=st.integers(0, 10**13),
    output_tokens=st.integers(0, 10**6),
    cache_hits=st.none() | st.floats(0, 100),
    cost=st.floats(0, 10**6),
    priced=st.sampled_from(["", "estimated", "actual"]),
    queued=st.integers(0, 1000),
    branch=st.text(max_size=60),
    mode=st.sampled_from(["ask", "smart", "off"]),
    title=st.text(max_size=60),
    cwd=st.text(max_size=60),
    agents=st.integers(0, 100),
    processes=st.integers(0, 100),
    other=st.text(max_size=60),
)


@given(facts=ANY, width=st.integers(0, 220), kind=st.sampled_from([full, compact, minimal]), plain=st.booleans())
def test_the_row_is_as_wide_as_there_is_room(facts: Facts, width: int, kind: Any, plain: bool) -> None:
    row = fit(list(kind(facts, Paint({}, plain))), width)
    assert row.cell_length == width
    assert not set(row.plain) & {"\n", "\r", "\t", "\x1b", "\x9b", "\u202e", "\u2066"}


@given(facts=ANY, kind=st.sampled_from([full, compact, minimal]))
def test_a_cost_nobody_knows_is_not_shown_as_none(facts: Facts, kind: Any) -> None:
    facts = attrs.evolve(facts, priced="", model="m", provider="", title="", branch="", cwd="")
    told = fit(list(kind(facts, Paint({}, False))), 300).plain
    assert "$0" not in told
    assert ("$?" in told) is (kind is full and bool(facts.input_tokens or facts.output_tokens))


def test_the_thresholds() -> None:
    told = [level(share) for share in (0, 0.499, 0.5, 0.799, 0.8, 0.949, 0.95, 1.2)]
    assert told == ["good", "good", "warning", "warning", "bad", "bad", "critical", "critical"]
    assert [detail_for(width) for width in (40, 51, 52, 75, 76, 200)] == [
        *["minimal"] * 2, *["compact"] * 2, *["full"] * 2,
    ]  # fmt: skip


def test_figures() -> None:
    counts = (0, 999, 1000, 1234, 45_200, 99_960, 999_499, 999_600, 1_500_000, 2e9)
    assert [tokens(count) for count in counts] == [
        "0", "999", "1k", "1.2k", "45.2k", "100k", "999k", "1M", "1.5M", "2G",
    ]  # fmt: skip
    assert [money(0.42), money(0.42, "estimated"), money(0, ""), money(3, ""), money(0.001), money(1234.5)] == [
        "$0.42", "~$0.42", "$?", "$?", "<$0.01", "$1,234",
    ]  # fmt: skip
    assert [percent(share) for share in (0, 0.001, 0.5, 0.999, 1, 1.2)] == ["0%", "<1%", "50%", "99%", "100%", "120%"]
    assert [span(seconds) for seconds in (-1, 9.9, 60, 3599, 7384)] == ["0s", "9s", "1m00s", "59m59s", "2h03m"]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("skin", list(built_in()), ids=lambda skin: skin.name)
def test_pictures_do_not_make_the_row_jump(style: Style, skin: Any) -> None:
    pictures = frames(style, skin.spinner)
    assert len({Content(picture).cell_length for picture in pictures}) == 1
    assert len(set(pictures)) > 1
    if style == "ascii":
        assert all(picture.isascii() for picture in pictures)


def test_a_skin_has_its_own_pictures() -> None:
    own = Spinner(frames=("a", "bb"), faces=("^^",), wings=(("<", ">"),))
    assert frames("unicode", own) == ("<a> ", "<bb>")
    assert set(frames("kaomoji", own)) == {"<^^>"}
    assert frames("ascii", own) == ("a ", "bb")
    assert "a" not in frames("emoji", own)


def git(*words: str, cwd: Path) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *who, *words], cwd=cwd, check=True, capture_output=True)


def test_the_branch_as_git_itself_keeps_it(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    home.mkdir()
    git("init", "-q", "-b", "feature/x", cwd=home)
    (home / "below/deep").mkdir(parents=True)
    assert git_branch(str(home / "below/deep")) == "feature/x"  # before its first commit
    git("commit", "-q", "--allow-empty", "-m", "one", cwd=home)
    git("worktree", "add", "-q", "-b", "tree", str(other), cwd=home)
    git("clone", "-q", str(home), str(tmp_path / "outer"), cwd=tmp_path)
    git("submodule", "add", "-q", str(home), "part", cwd=tmp_path / "outer")
    assert git_branch(str(other)) == "tree"
    assert git_branch(str(tmp_path / "outer/part")) == "feature/x"
    git("checkout", "-q", "--detach", cwd=home)
    head = (home / ".git/HEAD").read_text()
    assert git_branch(str(home)) == head[:7]


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (b"ref: refs/heads/main\n", "main"),
        (b"ref: refs/heads/a\x1b[31mb\xe2\x80\xae\n", "a[31mb"),
        (b"ref: refs/heads/.invalid\n", ""),
        (b"ref: refs/remotes/origin/x\n", "refs/remotes/origin/x"),
        (b"nonsense", ""),
        (b"", ""),
        (b"\xff\xfe\x00", ""),
    ],
)
def test_a_head_that_is_odd(tmp_path: Path, head: bytes, told: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").write_bytes(head)
    assert git_branch(str(tmp_path)) == told


def test_no_repository_is_no_branch(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/.git").write_text("gitdir: /nowhere/at/all\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/.git").write_text("what is this")
    for place in ("a", "b", "gone", "x\0y"):
        assert git_branch(f"{tmp_path}/{place}") == ""
