"""The tool contract, kept by the tools of the browser; without a page none of them starts anything."""

from typing import ClassVar

import pytest

from hermes_backend_wall import bwrap
from hermes_core.errors import ToolError
from hermes_core.testing import ToolContract
from hermes_tool_browser import checks
from hermes_tool_browser.config import Config
from hermes_tool_browser.finding import INSTALL
from hermes_tool_browser.place import wall_of


class TestTabs(ToolContract):
    module = "hermes_tool_browser"
    settings: ClassVar = {"executable": "/no/such/chromium"}  # the real one is opened by the real tests
    arguments: ClassVar = {"action": "list"}
    failing_arguments: ClassVar = {"action": "select", "tab": 7}

    @pytest.fixture
    def tool(self, contributed):
        return next(tool for tool in contributed["tools"] if tool.name == "browser_tabs")


NO_PAGE = {
    "browser_back": {},
    "browser_click": {"ref": "e1"},
    "browser_console": {},
    "browser_dialog": {"action": "dismiss"},
    "browser_drag": {"ref": "e1", "to": "e2"},
    "browser_evaluate": {"expression": "1"},
    "browser_get_images": {},
    "browser_hover": {"ref": "e1"},
    "browser_network": {},
    "browser_pdf": {},
    "browser_press": {"key": "Enter"},
    "browser_save": {"download": 1, "path": "x"},
    "browser_scroll": {},
    "browser_select": {"ref": "e1", "values": ["a"]},
    "browser_snapshot": {},
    "browser_type": {"ref": "e1", "text": "x"},
    "browser_upload": {"ref": "e1", "paths": ["x"]},
    "browser_vision": {},
    "browser_wait": {},
}
REFUSED = {
    "file:///etc/passwd": "http",
    "http://127.0.0.1/": "is loopback",
    "http://169.254.169.254/latest/": "cloud",
    "http://10.0.0.1/": "private",
    "http://user:word@a.example/": "@",
    "http://closed.example/": "closed this site",
}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", NO_PAGE)
async def test_without_a_page_a_tool_says_so_and_starts_no_browser(quiet, name):
    assert "No page is open. Open one with browser_navigate" in await quiet.fails(
        name.removeprefix("browser_"), **NO_PAGE[name]
    )
    assert not quiet.context.opened


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("url", REFUSED)
async def test_what_may_not_be_opened_starts_no_browser(quiet, url):
    assert REFUSED[url] in await quiet.fails("navigate", url=url)
    assert not quiet.context.opened


def test_all_tools_take_little_of_a_request(quiet):
    import json

    from hermes_core.agent.arguments import tool_spec

    specs = [tool_spec(tool) for tool in quiet.tools.values()]
    size = sum(len(json.dumps([s.name, s.description, s.schema])) for s in specs)
    assert size < 6_500, size


@pytest.mark.asyncio(loop_scope="module")
async def test_doctor_says_what_is_missing_and_how_to_get_it(make, monkeypatch):
    (check,) = checks.checks(make(executable="/no/such/chromium").ctx)
    (finding,) = await check.run()
    assert (finding.level, finding.fix) == ("fault", INSTALL)
    (check,) = checks.checks(make(backend="cdp").ctx)
    assert (await check.run())[0].level == "ok"
    monkeypatch.setattr(bwrap, "likely", lambda: False)
    monkeypatch.setattr("os.getuid", lambda: 0)
    with pytest.raises(ToolError, match="not started as root without a wall"):
        wall_of(Config())
    monkeypatch.setattr("os.getuid", lambda: 1000)
    assert (wall_of(Config()), wall_of(Config(wall="none"))) == ("chromium", "none")
    monkeypatch.setattr(checks, "has_playwright", lambda: False)
    assert (await check.run())[0].fix == "pip install playwright"
