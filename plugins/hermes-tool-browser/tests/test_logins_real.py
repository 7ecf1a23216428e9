"""Logins from the vault in a real Chromium: where values go, what a model gets of them, and who is after them."""

import io
import re
from pathlib import Path

import pytest
import pytest_asyncio

import hermes_tool_vault
from hermes_core.agent.arguments import parse_arguments
from hermes_core.errors import ToolError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing.fake_context import plugin_context
from hermes_core.types import Offer, Session, ToolCall, ToolSpec, Verdict
from hermes_tool_vault.config import Config
from hermes_tool_vault.items import Binding, Item, origin_of
from hermes_tool_vault.sealed import vault_of

from .conftest import Bench

pytestmark = [pytest.mark.real, pytest.mark.timeout(180), pytest.mark.asyncio(loop_scope="module")]

SECRET = "Tr0ub4dor&3-kX9!qZ"
SEED = "JBSWY3DPEHPK3PXP"
USER, WORD, CODE = "{{vault:shop.user}}", "{{vault:shop}}", "{{vault:bank.code}}"


class Person(Bench):
    """A browser and a vault in one home, and a person who answers."""

    def __init__(self, folder, site, **settings):
        super().__init__(folder, **settings)
        path = Path(hermes_tool_vault.__file__).with_name("hermes-plugin.toml")
        ctx = plugin_context(read_manifest(path), folder / "home", config=Config(key="file"))
        self.vault, self.site = vault_of(ctx), site
        (source,) = hermes_tool_vault.register_tool_sources(ctx)
        self.bind(site.url)
        for tool in source.tools(Session(id="s", origin="embed")):
            self.tools[f"browser_{tool.name}"] = tool
        self.context.tools = Offer(tools=[ToolSpec(name="vault_fill", description="", schema={})])
        self.asked, self.says = [], Verdict(outcome="allow", by="me", choice="once")
        self.context.ask = self._ask

    async def _ask(self, question):
        self.asked.append(question)
        return self.says

    def bind(self, *origins, **more):
        bound = tuple(Binding(kind="origin", target=origin_of(one), **more) for one in origins)
        items = [
            Item(name="shop", kind="password", fields={"secret": SECRET, "user": "ada"}, bindings=bound),
            Item(
                name="bank",
                kind="totp",
                fields={"seed": SEED, "digits": "6", "period": "30", "algorithm": "SHA1"},
                bindings=bound,
            ),
        ]
        self.vault.change(lambda things: things.update({item.name: item for item in items}))

    async def open(self, name):
        return await self.call("navigate", url=f"{self.site.url}/{name}")

    def login(self):
        return {self.ref('"User"'): USER, self.ref('"Password"'): WORD}

    async def value(self, selector="[type=password]"):
        """What really stands in a field, looked at past the tools."""
        return await self.browsing.tab.page.locator(selector).input_value()


@pytest_asyncio.fixture(loop_scope="module")
async def person(tmp_path, site):
    made = Person(tmp_path, site)
    yield made
    await made.context.close()


async def test_a_login_is_typed_in_and_no_tool_tells_it(person, site):
    await person.open("signin")
    text = await person.call("vault_fill", fields=person.login())
    assert await person.value() == SECRET
    assert await person.value("[name=user]") == "ada"
    (question,) = person.asked
    assert question.subject == f"vault_fill({USER}, {WORD})"
    assert f"`shop` to the field “Password” on {origin_of(site.url)}" in question.risk
    for told in (text, await person.call("snapshot", full=True), await person.call("scroll"), repr(question)):
        assert SECRET not in told
    await person.call("click", ref=person.ref('"Log in"'))
    path, sent = site.got[-1]
    assert path == "/signed"
    assert f"word={SECRET}" in sent
    assert SECRET not in await person.call("network")


async def test_enter_sends_it_and_a_code_is_the_one_of_the_moment(person, site):
    await person.open("twofactor")
    text = await person.call("vault_fill", fields={person.ref('"Code"'): CODE}, submit=True)
    code = re.fullmatch(r"code=(\d{6})", site.got[-1][1])[1]
    assert "Thank you" in text
    assert code not in text


async def test_what_a_page_says_of_it_is_told_without_it(person, site):
    await person.open("echoes")
    await person.call("vault_fill", fields=person.login())
    assert SECRET in await person.browsing.tab.page.inner_text("p"), "the page shows it"
    told = [await person.call(name) for name in ("snapshot", "console", "network")]
    for text in told:
        assert "⟦secret⟧" in text
        assert SECRET not in text
    assert "No picture: the page shows a value" in await person.fails("vision")
    assert "Not printed" in await person.fails("pdf")


async def test_no_script_of_the_model_meets_it(person, site):
    await person.open("signin")
    await person.call("evaluate", expression="addEventListener('input', e => { window.got = e.target.value })")
    assert "browser_evaluate ran on this site" in await person.fails("vault_fill", fields=person.login())
    await person.open("signin")
    assert "browser_evaluate ran on this site" in await person.fails("vault_fill", fields=person.login()), (
        "another tab or a frame may hold it"
    )
    await person.call("tabs", action="close")
    await person.open("signin")
    await person.call("vault_fill", fields=person.login())
    for expression in ("document.querySelector('[type=password]').value", "1"):
        assert "a value of the vault was typed in" in await person.fails("evaluate", expression=expression)
    await person.call("tabs", action="close")
    await person.open("plain")
    assert await person.call("evaluate", expression="6 * 7") == "42"


async def test_keys_and_drags_carry_nothing_away(person):
    await person.open("signin")
    await person.call("vault_fill", fields=person.login())
    for key in ("Control+a", "Control+C", "Meta+x", "Shift+Delete", "ControlOrMeta+c"):
        assert "Not pressed" in await person.fails("press", key=key)
    ref = person.ref('"Password"')
    assert "Not dragged" in await person.fails("drag", ref=ref, to=person.ref('"User"'))
    await person.call("press", key="Tab")


async def test_a_field_that_shows_it_later_is_covered_in_pictures(person):
    await person.open("turns")
    before = person.call("vision")
    await before
    await person.call("vault_fill", fields=person.login())
    await person.call("click", ref=person.ref('"Show"'))
    assert await person.value("[name=word]") == SECRET
    assert SECRET not in await person.call("snapshot")
    await person.call("vision")
    (blob,) = person.blobs
    box = await person.browsing.tab.page.locator("[name=word]").bounding_box()
    image = pytest.importorskip("PIL.Image")
    seen = image.open(io.BytesIO(blob.data)).convert("RGB")
    inner = (box["x"] + 2, box["y"] + 2, box["x"] + box["width"] - 2, box["y"] + box["height"] - 2)
    spread = max(high - low for low, high in seen.crop(tuple(map(int, inner))).getextrema())
    assert spread < 40, "one colour lies over it"


REFUSED = {
    "framed": "is not bound to http://localhost:",
    "posts": "where the form is sent",
    "button": "where the form is sent",
    "clobbered": "where the form is sent",
    "lookalike": "is not bound to http://localhost:",
    "faint": "nobody sees that field",
    "covered": "did not come about",
    "plainfield": "shows what is typed",
}


@pytest.mark.parametrize("name", REFUSED)
async def test_hostile_pages_get_nothing(tmp_path, site, name):
    person = Person(tmp_path, site, seconds=3)
    try:
        await person.open(name)
        said = await person.fails("vault_fill", fields={person.ref('"Password"'): WORD})
        assert REFUSED[name] in said
        assert not person.asked, "nobody is even asked"
        assert SECRET not in said
    finally:
        await person.context.close()


async def test_a_frame_of_the_right_site_in_a_page_of_another_gets_nothing(person, site):
    person.bind(f"http://localhost:{site.port}")
    await person.open("framed")
    assert f"not bound to {origin_of(site.url)}" in await person.fails("vault_fill", fields=person.login())
    person.bind(f"http://localhost:{site.port}", site.url)
    await person.call("vault_fill", fields=person.login())


@pytest.mark.parametrize(("name", "words"), [("swaps", "the field changed"), ("switches", "the field changed")])
async def test_what_changes_while_a_person_thinks_gets_nothing(person, name, words):
    await person.open(name)
    page, answer = person.browsing.tab.page, person.says

    async def ask(question):
        await page.evaluate("go()")
        return answer

    person.context.ask = ask
    assert words in await person.fails("vault_fill", fields={person.ref('"Password"'): WORD})
    assert await person.value("[name=word]") == ""


async def test_a_page_that_is_another_one_after_the_yes_gets_nothing(person, site):
    await person.open("signin")
    page, answer = person.browsing.tab.page, person.says

    async def ask(question):
        await page.goto(f"http://localhost:{site.port}/signin")
        return answer

    person.context.ask = ask
    assert "the page changed meanwhile" in await person.fails("vault_fill", fields=person.login())
    assert await person.value() == ""


@pytest.mark.parametrize("name", ["sends", "heads", "prefetches"])
async def test_what_a_page_sends_to_another_site_is_stopped(person, site, name):
    site.asked.clear()
    site.got.clear()
    await person.open(name)
    await person.call("vault_fill", fields=person.login())
    assert "stopped" in await person.call("wait", text="stopped")
    assert not [path for path in site.asked if "taken" in path]
    assert not [path for path, _ in site.got if "taken" in path]


async def test_a_no_a_stranger_and_a_wrong_handle_type_nothing(person):
    await person.open("signin")
    ref = person.ref('"Password"')
    for text in ("plain", f"x{WORD}", "{{vault:nothing}}", "{{vault:shop.basic}}", CODE * 2):
        await person.fails("vault_fill", fields={ref: text})
    person.says = Verdict(outcome="deny", by="me")
    assert "does not want to give" in await person.fails("vault_fill", fields={ref: WORD})
    person.says = Verdict(outcome="deny")
    assert "nobody is here" in await person.fails("vault_fill", fields={ref: WORD})
    assert await person.value() == ""


async def test_browser_type_with_a_handle_is_answered_by_the_vault():
    from hermes_tool_vault.redirecting import redirected

    call = ToolCall(id="1", name="browser_type", arguments={"ref": "e4", "text": WORD, "submit": True})
    to = redirected(call)
    assert (to.name, to.arguments) == ("vault_fill", {"fields": {"e4": WORD}, "submit": True})
    assert redirected(ToolCall(id="1", name="browser_type", arguments={"ref": "e4", "text": "{{ x }}"})) is None


async def test_the_browser_itself_types_no_handle(person):
    await person.open("signin")
    assert "is for vault_fill" in await person.fails("type", ref=person.ref('"User"'), text=USER)


async def test_arguments_are_read_as_a_model_gives_them(tmp_path, site):
    tool = Person(tmp_path, site).tools["browser_vault_fill"]
    assert parse_arguments(tool, {"fields": {"e4": WORD}}).fields == {"e4": WORD}
    with pytest.raises(ToolError):
        parse_arguments(tool, {"fields": "e4"})
