"""The tool contract, kept against a server on loopback."""

import pytest
from attrs import evolve

from hermes_core.context import UrlRules
from hermes_core.testing import ToolContract, plugin_context
from hermes_tool_web.config import Config


class TestWebFetch(ToolContract):
    module = "hermes_tool_web"

    @pytest.fixture
    def context(self, manifest, tmp_path):
        made = plugin_context(manifest, tmp_path / "home", config=Config())
        return evolve(made, urls=UrlRules(allow_private=True))

    @pytest.fixture(autouse=True)
    def server(self, site, monkeypatch):
        site.pages["/"] = ("text/html", b"<title>Hello</title><p>A page.")
        site.pages["/long"] = ("text/plain", b"word " * 900_000)
        monkeypatch.setattr(type(self), "arguments", {"url": f"{site.url}/"})
        monkeypatch.setattr(type(self), "failing_arguments", {"url": f"{site.url}/gone"})
        monkeypatch.setattr(type(self), "greedy_arguments", {"url": f"{site.url}/long"})


class TestWebSearch(ToolContract):
    module = "hermes_tool_web"
    arguments = {"query": "hermes"}
    failing_arguments = {"query": "x" * 401}
    greedy_arguments = {"query": "everything", "limit": 20}

    @pytest.fixture
    def context(self, manifest, tmp_path, here):
        row = {"title": "T" * 500, "content": "<b>c</b>" * 100}
        here.answers("tavily", {"results": [{**row, "url": f"https://a.example/{n}"} for n in range(100)]})
        made = plugin_context(manifest, tmp_path / "home", config=Config(search=["tavily"]))
        return evolve(made, urls=UrlRules(allow_private=True))

    @pytest.fixture
    def tool(self, contributed):
        return next(tool for tool in contributed["tools"] if tool.name == "web_search")
