"""What acts on a page are judged to do, without a browser."""

from types import SimpleNamespace
from typing import Any

import pytest

from hermes_core.errors import ToolError
from hermes_core.types import Effect, Session, ToolCall
from hermes_tool_browser import effects
from hermes_tool_browser.calls import reference
from hermes_tool_browser.snapshot import Snapshot

PAGE = """\
- generic [active] [ref=e1]:
  - link "Next page" [ref=e2] [cursor=pointer]:
    - /url: /next
  - link "Elsewhere" [ref=e3]:
    - /url: https://other.example/x
  - link "Write" [ref=e4]:
    - /url: mailto:a@b.example
  - link "Run" [ref=e5]:
    - /url: "javascript:buy()"
  - button "Buy now" [ref=e6]
  - textbox "Name" [ref=e7]: Ada
  - checkbox "Agree" [ref=e8]
  - 'button "Say: \\"yes\\"" [ref=e9]'
  - iframe [ref=e10]:
    - button "Inside" [ref=f1e2]
  - tab "More" [ref=e11]
  - link "Nowhere" [ref=e12]
"""
SESSION = Session(id="s", origin="cli")
NOTHING: frozenset[Effect] = frozenset()


class Stage:
    """A page that is open in no browser."""

    def __init__(self, **settings: Any) -> None:
        self.tab = SimpleNamespace(
            number=1, page=SimpleNamespace(url="https://shop.example/a"), snapshot=Snapshot(PAGE, ""), dialog=None
        )
        browsing = SimpleNamespace(alive=True, tabs=[self.tab], tab=self.tab)
        config = SimpleNamespace(sites=settings.get("sites", []))
        self.ctx: Any = SimpleNamespace(config=config, state={"browsers": {"s": browsing}})

    def judge(self, name: str, **arguments: Any) -> Any:
        return effects.judged(self.ctx, SESSION, ToolCall(id="c", name=f"browser_{name}", arguments=arguments))


@pytest.fixture
def stage():
    return Stage()


@pytest.mark.parametrize("ref", ["e2", "@e2", "e7", "e8", "e11"])
def test_clicks_that_send_nothing_ask_nobody(stage, ref):
    verdict = stage.judge("click", ref=ref)
    assert (verdict.outcome, verdict.effects) == ("allow", NOTHING)


def test_a_link_to_another_site_opens_that(stage):
    verdict = stage.judge("click", ref="e3")
    assert (verdict.outcome, verdict.effects) == ("allow", {Effect.NETWORK})


@pytest.mark.parametrize("ref", ["e4", "e5", "e6", "e9", "e12", "e99", "f1e2", "x"])
def test_other_clicks_ask(stage, ref):
    verdict = stage.judge("click", ref=ref)
    assert (verdict.outcome, verdict.effects) == ("ask", None)
    assert verdict.reason.endswith(" on shop.example")


ASKS = {
    "presses button “Buy now” on shop.example": ("click", {"ref": "e6"}),
    "types “a b” into textbox “Name” and sends it on shop.example": (
        "type",
        {"ref": "e7", "text": "a\nb", "submit": True},
    ),
    "presses the key “Enter” on shop.example": ("press", {"key": "Enter"}),
    "runs JavaScript of the model on shop.example": ("evaluate", {"expression": "1"}),
    "gives a.txt, b.txt on shop.example": ("upload", {"ref": "e7", "paths": ["a.txt", "b.txt"]}),
    "drags button “Buy now” on shop.example": ("drag", {"ref": "e6", "to": "e7"}),
}


@pytest.mark.parametrize("words", ASKS)
def test_a_person_is_told_what_is_done_and_where(stage, words):
    name, arguments = ASKS[words]
    assert stage.judge(name, **arguments).reason == words


def test_dialogs_are_agreed_to_with_a_yes_and_dismissed_without(stage):
    stage.tab.dialog = SimpleNamespace(type="confirm", message="Really\u202e\nbuy?")
    assert stage.judge("dialog", action="accept").reason == "agrees to the dialog “Really buy?” on shop.example"
    assert stage.judge("dialog", action="dismiss").effects == NOTHING
    stage.tab.dialog.type = "alert"
    assert stage.judge("dialog", action="accept").effects == NOTHING


@pytest.mark.parametrize("key", ["Tab", "Escape", "ArrowDown", "Shift+Tab", "PageDown"])
def test_keys_that_move_ask_nobody(stage, key):
    assert stage.judge("press", key=key).effects == NOTHING


def test_looking_is_not_judged_here(stage):
    for name in ("navigate", "snapshot", "scroll", "vision", "save", "pdf", "hover", "tabs"):
        assert stage.judge(name) is None


@pytest.mark.parametrize("site", ["shop.example", "*.example", " SHOP.example "])
def test_on_listed_sites_acts_ask_nobody_but_files_and_scripts_do(site):
    stage = Stage(sites=[site])
    assert stage.judge("click", ref="e6").effects == NOTHING
    assert stage.judge("type", ref="e7", text="x").effects == NOTHING
    assert stage.judge("evaluate", expression="1").outcome == "ask"
    assert stage.judge("upload", ref="e7", paths=["x"]).outcome == "ask"
    stage.tab.page.url = "https://evilshop.example.net/"
    assert stage.judge("click", ref="e6").outcome == "ask"


def test_an_act_is_done_to_what_was_judged_and_only_once(stage):
    stage.judge("click", ref="e6")
    effects.still_there(stage.ctx, "c", stage.tab, "e6")
    with pytest.raises(ToolError, match="the page changed"):
        effects.still_there(stage.ctx, "c", stage.tab, "e6")


@pytest.mark.parametrize("change", ["host", "tab", "element", "nothing open"])
def test_what_changed_meanwhile_is_not_acted_on(stage, change):
    if change == "nothing open":
        stage.ctx.state["browsers"] = {}
    stage.judge("click", ref="e2")
    if change == "host":
        stage.tab.page.url = "https://other.example/a"
    elif change == "tab":
        stage.tab.number = 2
    elif change == "element":
        stage.tab.snapshot = Snapshot(PAGE.replace('link "Next page" [ref=e2]', 'button "Buy" [ref=e2]'), "")
    with pytest.raises(ToolError, match="the page changed"):
        effects.still_there(stage.ctx, "c", stage.tab, "e2")


def test_what_was_judged_does_not_pile_up(stage):
    for number in range(1_000):
        call = ToolCall(id=str(number), name="browser_click", arguments={"ref": "e6"})
        effects.judged(stage.ctx, SESSION, call)
    assert len(stage.ctx.state["judged"]) <= 200


@pytest.mark.parametrize("text", ["e5", "[e5]", "@e5", "ref=e5", " [ref=e5] "])
def test_references_are_read_as_models_write_them(text):
    assert reference(text) == "e5"


@pytest.mark.parametrize("text", ["", "5", "e5 >> body", "css=body", "e5e", "text=Buy", "xpath=//a"])
def test_nothing_else_is_a_reference(text):
    with pytest.raises(ToolError, match="no reference"):
        reference(text)


def test_a_snapshot_is_cut_into_pieces_and_nothing_is_lost():
    lines = [f'- button "{number}" [ref=e{number}]' for number in range(5_000)] + ["- text: " + "x" * 30_000]
    snapshot = Snapshot("\n".join(lines), "")
    assert all(len(piece) <= 8_000 for piece in snapshot.pieces(full=True))
    assert "".join(snapshot.pieces(full=True)).replace("\n", "") == "".join(lines)
    assert snapshot.elements["e4999"].name == "4999"
    assert snapshot.piece(10**9, full=False) == snapshot.piece(len(snapshot.pieces(full=False)), full=False)
    assert Snapshot("", "").piece(1, full=False) == "(The page shows nothing.)"
    assert "too long" in Snapshot("- text: y\n" * 300_000, "").piece(10**9, full=True)


def test_what_changed_is_told_without_where_the_focus_is():
    before, same = Snapshot(PAGE, ""), Snapshot(PAGE.replace(" [active]", ""), "")
    assert same.changed(before) == "The page looks as before."
    more = Snapshot(f'{PAGE}- alert "Saved" [ref=e20]\n', "")
    assert more.changed(before) == 'New on the page:\n- alert "Saved" [ref=e20]'
    assert before.changed(more) == "Nothing new is on the page; 1 lines are gone."


def test_what_turns_text_around_is_taken_out():
    assert Snapshot("- text: a\u202eb\u2066c\U000e0041d", "").piece(1, full=False) == "- text: abcd"
