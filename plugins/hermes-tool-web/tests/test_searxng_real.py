"""A real searx, which SearXNG's API comes from: Debian's, with an engine that asks a server of our own."""

import shutil
import socket
import subprocess
import time
import urllib.request
from contextlib import closing

import pytest
import yaml
from attrs import evolve

from hermes_core.context import UrlRules
from hermes_core.testing import FakeToolContext, FakeWorkspace, plugin_context
from hermes_tool_web import register_tools
from hermes_tool_web.config import Config
from hermes_tool_web.search.tool import Search

from .test_search import MANIFEST

pytestmark = pytest.mark.real
SHARE = "/usr/share/python3-searx"


def settings(port: int, engine: str) -> dict[str, object]:
    """All of them: Debian packages no defaults."""
    headers = {"X-Content-Type-Options": "nosniff"}
    return {
        "general": {"debug": False, "instance_name": "searx", "contact_url": False, "enable_stats": False},
        "brand": dict.fromkeys(
            ("git_url", "git_branch", "issue_url", "docs_url", "public_instances", "wiki_url", "twitter_url"), ""
        ),
        "search": {
            "safe_search": 0,
            "autocomplete": "",
            "default_lang": "",
            "ban_time_on_fail": 5,
            "max_ban_time_on_fail": 120,
            "prefer_configured_language": False,
            "formats": ["html", "json"],
        },
        "server": {
            "port": port,
            "bind_address": "127.0.0.1",
            "secret_key": "of-a-test",
            "base_url": False,
            "image_proxy": False,
            "http_protocol_version": "1.0",
            "method": "GET",
            "default_http_headers": headers,
        },
        "ui": {
            "autofocus": True,
            "archive_today": False,
            "static_path": f"{SHARE}/static",
            "templates_path": f"{SHARE}/templates",
            "default_theme": "oscar",
            "default_locale": "en",
            "theme_args": {"oscar_style": "logicodev"},
        },
        "outgoing": {"request_timeout": 5.0, "useragent_suffix": "", "pool_connections": 10, "pool_maxsize": 10},
        "engines": [
            {
                "name": "ours",
                "engine": "json_engine",
                "shortcut": "ours",
                "categories": "general",
                "enable_http": True,
                "search_url": f"{engine}/engine?q={{query}}",
                "results_query": "found",
                "url_query": "where",
                "title_query": "name",
                "content_query": "says",
            }
        ],
        "locales": {"en": "English"},
        "doi_resolvers": {"doi.org": "https://doi.org/"},
        "default_doi_resolver": "doi.org",
    }


@pytest.fixture
def searx(site, tmp_path):
    """Its address, once it answers."""
    program = shutil.which("searx-run")
    assert program, "searx-run is not here: apt-get install searx"
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    file = tmp_path / "settings.yml"
    file.write_text(yaml.safe_dump(settings(port, site.url)))
    env = {"SEARX_SETTINGS_PATH": str(file), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    with (tmp_path / "searx.log").open("wb") as log, subprocess.Popen([program], env=env, stdout=log, stderr=log) as it:
        try:
            for _ in range(300):
                assert it.poll() is None, (tmp_path / "searx.log").read_text()
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5):
                        break
                except OSError:
                    time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            it.kill()


async def test_a_real_searx_is_asked_and_understood(searx, site, tmp_path):
    rows = [{"where": f"https://page.example/{n}", "name": f"Page {n} & more", "says": f"About {n}"} for n in range(12)]
    import json

    site.pages["/engine"] = ("application/json", json.dumps({"found": rows}).encode())
    config = Config(searxng=searx, cache=False)
    ctx = evolve(plugin_context(MANIFEST, tmp_path / "home", config=config), urls=UrlRules())
    tool = register_tools(ctx)[1]
    context = FakeToolContext(FakeWorkspace(folder=tmp_path))
    told = await tool.run(context, Search(query="größe & more", limit=3))
    assert told.startswith("3 results for 'größe & more' by SearXNG.")
    assert "[1] Page 0 & more\nhttps://page.example/0\nAbout 0" in told
    assert site.asked == ["/engine?q=gr%C3%B6%C3%9Fe+%26+more"]
