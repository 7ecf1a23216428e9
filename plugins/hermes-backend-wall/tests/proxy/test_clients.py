"""Real clients through the proxy, to servers on loopback with a certificate of our own."""

import asyncio
import functools
import hashlib
import http.server
import io
import json
import os
import shutil
import ssl
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import CERTIFICATE, Door

pytestmark = pytest.mark.real


class Site:
    """A folder, served by HTTP and by HTTPS."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._servers = []
        handler = functools.partial(_Quiet, directory=str(folder))
        for tls in (False, True):
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
            if tls:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(CERTIFICATE)
                server.socket = context.wrap_socket(server.socket, server_side=True)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self._servers.append(server)
        self.plain, self.secure = (server.server_address[1] for server in self._servers)

    def close(self) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    folder = tmp_path / "site"
    folder.mkdir()
    site = Site(folder)
    yield site
    site.close()


async def run(door: Door, *command: str, cwd: Path, token: str = "", **more: str) -> tuple[int, str]:
    """A program with the proxy in its environment, as a walled command has it."""
    assert shutil.which(command[0]), f"{command[0]} is not installed"
    proxy = f"http://{f'hermes:{token}@' if token else ''}127.0.0.1:{door.port}"
    names = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), proxy)
    certificate = {n: str(CERTIFICATE) for n in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT")}
    certificate["NODE_EXTRA_CA_CERTS"] = str(CERTIFICATE)
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd), **names, **certificate, "GIT_TERMINAL_PROMPT": "0", **more}
    child = await asyncio.create_subprocess_exec(
        *command, cwd=cwd, env=env, stdin=asyncio.subprocess.DEVNULL, stdout=-1, stderr=asyncio.subprocess.STDOUT
    )
    out = (await child.communicate())[0].decode("utf-8", "replace")
    return child.returncode or 0, out


async def test_curl(door: Door, site: Site, tmp_path: Path) -> None:
    (site.folder / "a").write_bytes(b"x" * 3_000_000)
    rules = [f"one.localhost:{site.secure}", f"one.localhost:{site.plain}"]
    await door.open(*rules, token="right", mend="Ask a person.")
    urls = [f"https://one.localhost:{site.secure}/a", f"http://one.localhost:{site.plain}/a"]
    curl = ["curl", "-sSf", "--noproxy", "", "-o", "1", "-o", "2"]
    assert await run(door, *curl, *urls, cwd=tmp_path, token="right") == (0, "")
    assert [(tmp_path / name).stat().st_size for name in "12"] == [3_000_000] * 2
    status, out = await run(door, *curl, *urls, cwd=tmp_path, token="wrong")
    assert status
    assert "407" in out
    status, out = await run(door, *curl, "https://two.localhost", cwd=tmp_path, token="right")
    assert "403" in out


async def test_curl_that_hides_behind_a_good_name(door: Door, site: Site, tmp_path: Path) -> None:
    await door.open(f"one.localhost:{site.secure}", f"two.localhost:{site.secure}")
    to = f"two.localhost:{site.secure}:one.localhost:{site.secure}"
    status, out = await run(
        door, "curl", "-sS", "--connect-to", to, f"https://two.localhost:{site.secure}/", cwd=tmp_path
    )
    assert status
    assert "unrecognized name" in out
    assert "asks for two.localhost in TLS and for one.localhost before it" in door.last.why


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_git_clone(door: Door, site: Site, tmp_path: Path, scheme: str) -> None:
    source = tmp_path / "source"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(source)]
    source.mkdir()
    (source / "file").write_text("text")
    await door.open(f"git.localhost:{site.secure}", f"git.localhost:{site.plain}", token="right")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        assert (await run(door, *git, *words, cwd=tmp_path))[0] == 0
    bare = str(site.folder / "x.git")
    assert (await run(door, "git", "clone", "-q", "--bare", str(source), bare, cwd=tmp_path))[0] == 0
    assert (await run(door, "git", "-C", bare, "update-server-info", cwd=tmp_path))[0] == 0
    url = f"{scheme}://git.localhost:{site.secure if scheme == 'https' else site.plain}/x.git"
    status, out = await run(door, "git", "clone", "-q", url, "copy", cwd=tmp_path, token="right")
    assert (status, out) == (0, "")
    assert (tmp_path / "copy" / "file").read_text() == "text"


def wheel(folder: Path) -> None:
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "tiny-1.0-py3-none-any.whl", "w") as file:
        file.writestr("tiny.py", "x = 1\n")
        file.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        file.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr("tiny-1.0.dist-info/RECORD", "")


async def test_pip_install(door: Door, site: Site, tmp_path: Path) -> None:
    wheel(site.folder / "simple" / "tiny")
    index = f"https://index.localhost:{site.secure}/simple/"
    await door.open(f"index.localhost:{site.secure}", mend="Ask a person.")
    pip = [getattr(sys, "_base_executable", sys.executable), "-m", "pip", "--no-cache-dir", "--isolated", "install"]
    pip += [
        "--cert",
        str(CERTIFICATE),
        "--proxy",
        f"http://127.0.0.1:{door.port}",
        "--retries",
        "0",
        "-t",
        "there",
    ]
    status, out = await run(door, *pip, "-i", index, "tiny", cwd=tmp_path)
    assert status == 0, out
    assert (tmp_path / "there" / "tiny.py").exists()
    status, out = await run(door, *pip, "-i", "https://two.localhost/simple/", "other", cwd=tmp_path)
    assert status
    assert (door.last.host, door.last.allowed) == ("two.localhost", False)


async def test_npm_install(door: Door, site: Site, tmp_path: Path) -> None:
    packed = io.BytesIO()
    manifest = json.dumps({"name": "tiny", "version": "1.0.0"}).encode()
    with tarfile.open(fileobj=packed, mode="w:gz") as file:
        entry = tarfile.TarInfo("package/package.json")
        entry.size = len(manifest)
        file.addfile(entry, io.BytesIO(manifest))
    registry = f"https://index.localhost:{site.secure}"
    dist = {"tarball": f"{registry}/tiny.tgz", "shasum": hashlib.sha1(packed.getvalue()).hexdigest()}
    version = {"name": "tiny", "version": "1.0.0", "dist": dist}
    (site.folder / "tiny").write_text(
        json.dumps({"name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}})
    )
    (site.folder / "tiny.tgz").write_bytes(packed.getvalue())
    await door.open(f"index.localhost:{site.secure}")
    work = tmp_path / "work"
    work.mkdir()
    (work / "package.json").write_text("{}")
    npm = ["npm", "install", "--no-audit", "--no-fund", "--registry", registry, "tiny"]
    status, out = await run(
        door, *npm, cwd=work, npm_config_cafile=str(CERTIFICATE), npm_config_cache=str(tmp_path / "cache")
    )
    assert status == 0, out
    assert (work / "node_modules" / "tiny" / "package.json").exists()
    assert door.passages[0].host == "index.localhost"
