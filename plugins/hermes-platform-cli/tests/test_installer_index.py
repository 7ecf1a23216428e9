"""Fetching plugins from a real index over HTTP with real installers, into an environment of its own."""

import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import metadata
from pathlib import Path

import pytest
from installer_ledger import Ledger

from hermes_core.errors import UserError
from hermes_platform_cli.commands.installer import install
from hermes_platform_cli.commands.names import own_names, refuse_imitation
from hermes_platform_cli.commands.requests import wanted

NOBODY = "http://127.0.0.1:9"  # in the place of osv.dev
PLUGIN = "[hermes.plugins]\nboard = board\n"
BUILDS = "import pathlib\npathlib.Path({mark!r}).touch()\nfrom setuptools import setup\nsetup()\n"


class Index:
    """A package index in a folder, as PEP 503 has it."""

    def __init__(self, root: Path, mark: Path) -> None:
        self.root, self.mark = root, mark
        self.url = ""

    def wheel(self, name: str, *, entry_points: str = PLUGIN, fields: str = "", version: str = "1.0") -> Path:
        stem = name.replace("-", "_")
        info = f"{stem}-{version}.dist-info"
        about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: A board.\n{fields}"
        files = {
            f"{stem}_module.py": "x = 1\n", f"{info}/METADATA": about, f"{info}/entry_points.txt": entry_points,
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }  # fmt: skip
        files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
        path = self._place(name) / f"{stem}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for inner, text in files.items():
                archive.writestr(inner, text)
        self._list(name)
        return path

    def sdist(self, name: str) -> Path:
        """One whose building leaves a mark."""
        path = self._place(name) / f"{name}-1.0.tar.gz"
        files = {"setup.py": BUILDS.format(mark=str(self.mark)), "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\n"}
        with tarfile.open(path, "w:gz") as archive:
            for inner, text in files.items():
                member = tarfile.TarInfo(f"{name}-1.0/{inner}")
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text.encode()))
        self._list(name)
        return path

    def _place(self, name: str) -> Path:
        place = self.root / "simple" / name
        place.mkdir(parents=True, exist_ok=True)
        return place

    def _list(self, name: str) -> None:
        place = self._place(name)
        files = [p for p in sorted(place.iterdir()) if p.name != "index.html"]
        links = (f'<a href="{p.name}#sha256={hashlib.sha256(p.read_bytes()).hexdigest()}">{p.name}</a>' for p in files)
        (place / "index.html").write_text(f"<!DOCTYPE html><html><body>{' '.join(links)}</body></html>")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def index(tmp_path):
    made = Index(tmp_path / "index", tmp_path / "built")
    (tmp_path / "index" / "simple").mkdir(parents=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(made.root)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_port}/simple"
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(params=["uv", "pip", "pipx"])
def place(request, tmp_path, monkeypatch):
    """An environment without any installer in it, and the one way to install into it."""
    folder, beside = tmp_path / "env", tmp_path / "bin"
    beside.mkdir()
    by = shutil.which(request.param) or shutil.which(request.param, path=str(Path(sys.executable).parent))
    if request.param == "uv" and not by:
        pytest.skip("there is no uv")
    pip = subprocess.run(["which", "pip"], capture_output=True, text=True, check=False).stdout.strip()
    if request.param != "uv" and not pip:
        pytest.skip("there is no pip")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    if request.param == "uv":
        (beside / "uv").symlink_to(by)
    else:
        (beside / "pip").write_text(f'#!/bin/sh\nexec "{pip}" "$@"\n')
        (beside / "pip").chmod(0o755)
    if request.param == "pipx":  # what it does with these words is to run the pip of an environment
        python = folder / "bin" / "python"
        (beside / "pipx").write_text(f'#!/bin/sh\nshift 2\nexec "{pip}" --python "{python}" "$@"\n')
        (beside / "pipx").chmod(0o755)
        (folder / "pipx_metadata.json").touch()
    monkeypatch.setenv("PATH", f"{beside}:/usr/bin:/bin")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("UV_NO_CACHE", "1")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    looked = "hermes_platform_cli.commands.installer.installed_contents"
    monkeypatch.setattr(looked, lambda name: None)  # it looks into the Python that runs these tests
    monkeypatch.setattr(sys, "prefix", str(folder))
    monkeypatch.setattr(sys, "executable", str(folder / "bin" / "python"))
    return folder


def there(place: Path) -> set[str]:
    """What stands in an environment."""
    return {p.name for p in place.glob("lib/python*/site-packages/*") if p.name != "__pycache__"}


@pytest.mark.few(1)
def test_a_plugin_comes_as_a_wheel_of_the_index_and_its_digest_is_shown_and_kept(index, place):
    index.wheel("hermes-tool-acme")
    ledger, said = Ledger(), []
    install("hermes-tool-acme", ledger, index=index.url, say=said.append, osv=NOBODY)
    assert "hermes_tool_acme_module.py" in there(place)
    [noted] = wanted(ledger)
    assert f"Its files: sha256 {noted.digest}, kept in plugins.lock." in said
    again = index.wheel("hermes-tool-acme", fields="License: other\n")
    assert again.exists()
    with pytest.raises(UserError, match="files differ"):
        install("hermes-tool-acme", ledger, index=index.url, say=said.append, osv=NOBODY)


@pytest.mark.few(1)
def test_a_name_of_somebody_else_is_never_built(index, place):
    index.sdist("hermes-tool-acme")
    with pytest.raises(UserError, match="could not install") as caught:
        install("hermes-tool-acme", Ledger(), index=index.url, say=print, osv=NOBODY)
    assert "--allow-sdist" in caught.value.hint
    assert not index.mark.exists()
    assert there(place) == set()


@pytest.mark.few(1)
def test_our_name_is_never_built_whoever_says_so(index, place):
    index.sdist("hermes-tool-metrics")
    with pytest.raises(UserError, match="could not install"):
        install("hermes-tool-metrics", Ledger(), binary_only=False, index=index.url, say=print, osv=NOBODY)
    assert not index.mark.exists()
    assert there(place) == set()


@pytest.mark.parametrize("requirement", ["hermes-core", "Hermes_Core==0.5.1", "hermes-core @ https://x.example/a.whl"])
def test_hermes_itself_is_no_plugin(requirement):
    with pytest.raises(UserError, match="hermes-core is Hermes itself"):
        install(requirement, Ledger(), binary_only=False, say=print, osv=NOBODY)


@pytest.mark.few(1)
def test_no_plugin_brings_another_hermes(index, place):
    """Somebody else has our name on the index, and a newer version."""
    index.wheel("hermes-core", version="99.0", fields="Author: Mallory\n")
    index.wheel("acme-board", entry_points="", fields="Requires-Dist: hermes-core>=9\n")
    index.wheel("hermes-tool-acme", fields="Requires-Dist: acme-board\n")
    with pytest.raises(UserError, match="could not install"):
        install("hermes-tool-acme", Ledger(), index=index.url, say=print, osv=NOBODY)
    assert there(place) == set()


@pytest.mark.few(1)
def test_one_of_ours_that_it_needs_is_looked_at_by_itself(index, place, monkeypatch):
    index.wheel("hermes-tool-metrics", fields="Author: Mallory\n")
    index.wheel("hermes-tool-acme", fields="Requires-Dist: Hermes_Tool.metrics>=1\n")
    monkeypatch.setattr("hermes_platform_cli.commands.installer.installed_own", dict)
    with pytest.raises(UserError, match="needs hermes-tool-metrics of ours, which is not here"):
        install("hermes-tool-acme", Ledger(), index=index.url, say=print, osv=NOBODY)
    assert there(place) == set()


@pytest.mark.few(1)
def test_what_is_no_plugin_is_refused_with_what_it_is(index, place):
    index.wheel("requests-board", entry_points="[console_scripts]\nx = y:z\n")
    with pytest.raises(UserError, match=r"requests-board 1\.0 is no plugin of Hermes: A board\."):
        install("requests-board", Ledger(), index=index.url, say=print, osv=NOBODY)
    assert there(place) == set()


@pytest.mark.few(1)
def test_our_name_on_somebody_elses_wheel_is_refused(index, place):
    index.wheel("hermes-tool-metrics", fields="Author: Mallory\n")
    with pytest.raises(UserError, match="carries the name of a plugin of ours, and its author is 'Mallory'"):
        install("hermes-tool-metrics", Ledger(), index=index.url, say=print, osv=NOBODY)
    assert there(place) == set()
    ours = metadata("hermes-core")
    signs = "".join(f"Project-URL: {url}\n" for url in ours.get_all("Project-URL") or ())
    index.wheel("hermes-tool-metrics", fields=f"Author: {ours['Author']}\n{signs}")
    install("hermes-tool-metrics", Ledger(), index=index.url, say=print, osv=NOBODY)
    assert "hermes_tool_metrics_module.py" in there(place)


@pytest.mark.few(1)
def test_no_other_source_of_packages_counts(index, place, tmp_path, monkeypatch):
    """Not of the shell, and not of the folder one stands in."""
    other = Index(tmp_path / "other", tmp_path / "built")
    wheel = other.wheel("hermes-tool-acme", version="9.0")
    for name in ("PIP_FIND_LINKS", "UV_FIND_LINKS"):
        monkeypatch.setenv(name, str(wheel.parent))
    for name in ("PIP_EXTRA_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_INDEX"):
        monkeypatch.setenv(name, (tmp_path / "other" / "simple").as_uri())
    (tmp_path / "uv.toml").write_text(f'find-links = ["{wheel.parent}"]\n')
    monkeypatch.chdir(tmp_path)
    index.wheel("hermes-tool-acme")
    ledger = Ledger()
    install("hermes-tool-acme", ledger, index=index.url, say=print, osv=NOBODY)
    assert [one.version for one in wanted(ledger)] == ["1.0"]


@pytest.mark.few(1)
def test_a_file_is_installed_as_it_is(index, place):
    wheel = index.wheel("hermes-tool-acme")
    ledger = Ledger()
    install(str(wheel), ledger, index=index.url, say=print, osv=NOBODY)
    assert [one.version for one in wanted(ledger)] == ["1.0"]
    assert "hermes_tool_acme_module.py" in there(place)


@pytest.mark.few(1)
def test_a_dependency_at_an_address_of_its_own_is_refused(index, place, tmp_path):
    sdist = index.sdist("acme-core")
    index.wheel("hermes-tool-acme", fields=f"Requires-Dist: acme-core @ {sdist.as_uri()}\n")
    with pytest.raises(UserError, match="not from the package index"):
        install("hermes-tool-acme", Ledger(), index=index.url, say=print, osv=NOBODY)
    assert not index.mark.exists()


@pytest.mark.parametrize(
    "requirement",
    [
        "hermes-tool-acme @ git+https://git.example/acme",
        "hermes-tool-acme @ https://x.example/acme-1.0.tar.gz",
        "hermes-tool-acme @ file:///tmp/acme",
        "hermes-tool-acme @ https://x.example/acme.zip#x.whl",
    ],
)
def test_what_would_be_built_needs_a_word(requirement):
    with pytest.raises(UserError, match="is no wheel") as caught:
        install(requirement, Ledger(), say=print, osv=NOBODY)
    assert "--allow-sdist" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("hermes-tool-skill", "hermes-tool-skills"), ("hermes-tool-skil1s", "hermes-tool-skills"),
        ("hermes-too1-web", "hermes-tool-web"), ("hermes-web-tool", "hermes-tool-web"),
        ("hermestool-web", "hermes-tool-web"), ("hermes-tool-wbe", "hermes-tool-web"),
        ("herrnes-tool-web", "hermes-tool-web"), ("hermes-cores", "hermes-core"),
        ("hermes-provider-opena1", "hermes-provider-openai"),
    ],
)  # fmt: skip
def test_a_name_that_can_be_taken_for_ours_is_refused(name, ours):
    with pytest.raises(UserError, match=f"can be taken for {ours}"):
        install(name, Ledger(), say=print, osv=NOBODY)


def test_names_of_others_are_theirs():
    for name in ("hermes-tool-weather", "hermes-platform-slack", "hermes-provider-openrouter", "acme-hermes-board"):
        refuse_imitation(name)
    for name in own_names():
        refuse_imitation(name)


@pytest.mark.parametrize("index", ["http://pypi.example/simple", "ftp://x", "", "https://pypi.org@evil.example/simple"])
def test_an_index_that_anybody_could_change_on_the_way_is_refused(index):
    with pytest.raises(UserError, match=r"no https address|hides the real host"):
        install("hermes-tool-acme", Ledger(), index=index, say=print, osv=NOBODY)
