"""What means ill is a clear line within bounded memory, and nothing is left running: measured on a whole process."""

import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from .test_reading import DOCX, docx, pdf

pytestmark = pytest.mark.long

# One fetch in a process of its own: its answer, its peak of memory and that of its children, in MB.
PROGRAM = """
import asyncio, json, resource, sys
from pathlib import Path
from attrs import evolve
import hermes_tool_web
from hermes_core.context import UrlRules
from hermes_core.errors import ToolError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeToolContext, FakeWorkspace, plugin_context
from hermes_tool_web.config import Config
from hermes_tool_web.tool import Fetch

url, folder, seconds = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
manifest = read_manifest(Path(hermes_tool_web.__file__).with_name("hermes-plugin.toml"))
ctx = plugin_context(manifest, folder, config=Config(seconds=seconds), urls=UrlRules(allow_private=True))
tool = hermes_tool_web.register_tools(ctx)[0]

async def main():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        told = await tool.run(FakeToolContext(FakeWorkspace(folder=folder)), Fetch(url=url))
    except ToolError as error:
        told = f"ERROR {error}"
    mine, theirs = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    print(json.dumps([told[:3000], (mine - before) / 1024, theirs / 1024, len(left)]))

asyncio.run(main())
"""


@pytest.fixture
def fetched(site, tmp_path):
    def fetch(kind, body, seconds=30.0, **headers):
        if callable(body):
            site.pages["/"] = body
        else:
            site.pages["/"] = lambda handler: handler.answer(body, Content_Type=kind, **headers)
        argv = [sys.executable, "-c", PROGRAM, f"{site.url}/", str(tmp_path), str(seconds)]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
        assert not done.returncode, done.stderr
        told, grew, children, left = json.loads(done.stdout)
        assert not left
        assert not done.stderr.strip()
        assert not _of_parent(tmp_path)
        return told, grew, children

    return fetch


def _of_parent(folder: Path) -> list[str]:
    """The processes of document readers that are still there."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if b"hermes_documents" in line and parent in ("1", str(os.getpid())):
                found.append(f"{entry.name} {line!r}")
    return found


def bomb() -> bytes:
    """A document of 2 GB in 2 MB; made by the test that reads it, as it takes seconds."""
    return zipped("word/document.xml", 2_000_000_000)


def zipped(name: str, size: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(docx("")), "r") as whole, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for part in whole.namelist():
            if part != name:
                file.writestr(part, whole.read(part))
        with file.open(name, "w", force_zip64=True) as entry:
            for _ in range(size // 1_000_000):
                entry.write(b" " * 1_000_000)
    return out.getvalue()


ROWS = b"<tr><td>cell</td><td>cell</td><td>cell</td></tr>"
ENTITIES = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    ("kind", "body", "said", "most"),
    [
        ("text/html", b"<p>endless " * 4_000_000, "The page was cut", 120),
        ("text/html", b"<table>" + ROWS * 100_000, "cell", 150),
        ("text/html", b"<table><tr>" + b"<td>x" * 900_000, "x", 320),
        ("text/html", b"<div>" * 900_000, "", 200),
        ("application/rss+xml", b"<rss>" + b"<item><title>t</title></item>" * 150_000, "entries", 60),
        ("application/rss+xml", b"<rss><item><title>" + b"<b>" * 1_000_000, "", 250),
        ("application/rss+xml", f'<!DOCTYPE x [<!ENTITY l0 "ha">{ENTITIES}]><rss>&l9;</rss>'.encode(), "entities", 30),
        ("application/json", b"[" * 4_000_000, "", 60),
        ("text/plain", b"\xff\xfe" * 2_000_000, "", 80),
    ],
    ids=range(9),
)
def test_what_is_huge_stays_within_memory(fetched, kind, body, said, most):
    told, grew, _ = fetched(kind, body)
    assert said in told
    assert grew < most


def test_a_packed_body_is_not_unpacked_beyond_its_bound(fetched):
    told, grew, _ = fetched("text/html", gzip.compress(b"a" * 300_000_000, 9), Content_Encoding="gzip")
    assert "The page was cut: it is longer than 5,000,000 bytes." in told
    assert grew < 60


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (DOCX, bomb),
        (DOCX, docx(f'</w:body></w:document><!DOCTYPE x [<!ENTITY l0 "ha">{ENTITIES}]>')),
        ("application/pdf", pdf("x").replace(b"/Count 1", b"/Count 999999999")),
        ("application/pdf", pdf("x").replace(b"[3 0 R]", b"[2 0 R]")),
        ("application/pdf", b"%PDF-1.7\n" + b"<<" * 1_000_000),
    ],
    ids=["zip bomb", "entities", "pages", "circle", "nested"],
)
def test_a_document_that_means_ill_ends_in_a_process_of_its_own(fetched, kind, body):
    told, grew, children = fetched(kind, body() if callable(body) else body)
    assert told.startswith("ERROR") or "(application/" in told
    assert "Traceback" not in told
    assert grew < 60
    assert children < 1_100


def test_a_drip_ends_when_its_time_is_over(fetched):
    def drip(handler):
        import time

        handler.send_response(200)
        handler.send_header("Content-Type", "application/pdf")
        handler.end_headers()
        while True:
            handler.wfile.write(b"%PDF"[:1])
            time.sleep(0.01)

    told, grew, _ = fetched("", drip, seconds=1.0)
    assert "did not answer in full within 1 seconds" in told
    assert grew < 30
