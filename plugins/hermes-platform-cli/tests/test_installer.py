"""Fetching plugins: the question about malware, the installer's command line, and what is written down."""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from installer_ledger import Ledger

from hermes_core.errors import UserError
from hermes_core.types import PluginRow
from hermes_platform_cli.commands import programs as program
from hermes_platform_cli.commands.installer import install, remove, sync
from hermes_platform_cli.commands.requests import Package, note, wanted
from hermes_platform_cli.commands.unpacked import contents_of


def row(label, distribution="", path=""):
    return PluginRow(label=label, version="1", loaded=False, distribution=distribution, path=path)


@pytest.fixture
def osv():
    """A local stand-in for osv.dev; ``answers`` maps package names to advisories."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.asked.append(asked)
            body = json.dumps({"vulns": server.answers.get(asked["package"]["name"], [])}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.answers = [], {}
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


STAND_IN = """#!{python}
import pathlib, sys
words = sys.argv[1:]
name = words[-1]
with open({log!r}, "a") as log:
    log.write(" ".join("FOLDER" if "hermes-install-" in word else word for word in words) + "\\n")
if "broken" in name:
    sys.exit(1)
if "--target" in words:
    import re
    folder = pathlib.Path(words[words.index("--target") + 1])
    wheel = re.fullmatch(r"(?:.*/)?(\\w[\\w.]*)-([^-/]+)-.*[.]whl", name)
    plain = wheel[1] if wheel else re.match(r"[\\w.-]+", name)[0]
    info = folder / f"{{plain}}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: {{plain}}\\nVersion: 1.2\\nRequires-Dist: attrs\\n")
    (info / "RECORD").write_text("")
    (info / "entry_points.txt").write_text("[hermes.plugins]\\nboard = board\\n")
    for path, text in {files!r}.items():
        (folder / path).write_text(text)
"""


@pytest.fixture
def installer(tmp_path, monkeypatch):
    """A program named uv that writes down how it was called, first on PATH; ``files`` are in what it fetches."""
    folder = tmp_path / "bin"
    folder.mkdir()
    log = tmp_path / "calls"
    log.write_text("")

    class Installer:
        def fetches(self, **files):
            text = STAND_IN.format(python=sys.executable, log=str(log), files=files)
            (folder / "uv").write_text(text)
            (folder / "uv").chmod(0o755)

        def __call__(self):
            return log.read_text().splitlines()

    made = Installer()
    made.fetches(**{"board.py": "x = 1"})
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return made


def calls(*words, wheels="--only-binary :all: "):
    """The installer looks first, then installs; ``words`` are what each is asked for."""
    look, *install = words
    python = f"pip install --python {sys.executable} --no-config --index-url https://pypi.org/simple"
    return [f"{python} --no-deps --target FOLDER {wheels}{look}", *(f"{python} {wheels}{one}" for one in install)]


def test_an_install_asks_first_takes_wheels_only_and_enables_nothing(osv, installer):
    said = []
    consent = Ledger()
    install("Hermes_Tool.Board[gpio]==1.2", consent, say=said.append, osv=osv.url)
    assert osv.asked == [{"package": {"name": "hermes-tool-board", "ecosystem": "PyPI"}, "version": "1.2"}]
    assert installer() == calls("Hermes_Tool.Board[gpio]==1.2", "Hermes_Tool.Board[gpio]==1.2")
    assert consent.noted["hermes-tool-board"]["requirement"] == "Hermes_Tool.Board[gpio]==1.2"
    assert "not enabled" in said[-1]


def test_building_from_source_must_be_asked_for(osv, installer):
    install("hermes-tool-board[x]>=1", Ledger(), binary_only=False, say=print, osv=osv.url)
    assert installer() == calls("hermes-tool-board[x]>=1", "hermes-tool-board[x]==1.2", wheels="")


def test_malware_is_not_installed(osv, installer):
    osv.answers["evil"] = [{"id": "PYSEC-1"}, {"id": "MAL-2026-1", "withdrawn": "2026"}, {"id": "MAL-2026-7"}]
    with pytest.raises(UserError, match="reported as malware: MAL-2026-7") as caught:
        install("evil", Ledger(), say=print, osv=osv.url)
    assert "MAL-2026-7" in caught.value.hint
    assert installer() == []


def test_an_ordinary_advisory_is_no_malware(osv, installer):
    osv.answers["fine"] = [{"id": "PYSEC-1"}]
    install("fine", Ledger(), say=print, osv=osv.url)
    assert len(installer()) == 2


def test_when_nobody_can_be_asked_it_says_so_and_goes_on(installer):
    said = []
    install("board", Ledger(), say=said.append, osv="http://127.0.0.1:9")
    assert "osv.dev could not be asked whether board is malware" in said[0]
    assert len(installer()) == 2


@pytest.mark.parametrize(
    "requirement",
    [
        "./dist/hermes_tool_board-1.0-py3-none-any.whl",
        "hermes-tool-board @ https://example.org/hermes_tool_board-1.0-py3-none-any.whl#sha256=0",
    ],
)
def test_what_is_not_from_the_index_is_not_looked_up_but_remembered_by_its_name(osv, installer, requirement):
    said = []
    consent = Ledger()
    install(requirement, consent, say=said.append, osv=osv.url)
    assert osv.asked == []
    assert "nobody was asked" in said[0]
    assert [*consent.wanted()] == ["hermes-tool-board"]


@pytest.mark.parametrize(
    "text", ["", "--index-url=http://x", " -r file", "./folder", "folder/inner", "git+https://x/y", "https://x/y"]
)
def test_what_has_no_name_is_no_package(installer, text):
    with pytest.raises(UserError, match="is not a package") as caught:
        install(text, Ledger(), say=print)
    assert "NAME @ ADDRESS" in caught.value.hint
    assert installer() == []


def test_a_failed_install_is_not_noted(osv, installer):
    with pytest.raises(UserError, match="uv could not install broken"):
        install("broken", Ledger(), say=print, osv=osv.url)


def test_what_came_is_pinned_and_what_is_new_is_said(osv, installer):
    said = []
    consent = Ledger()
    install("board", consent, say=said.append, osv=osv.url)
    [noted] = wanted(consent)
    assert (noted.version, len(noted.digest)) == ("1.2", 64)
    assert "board 1.2 is new here. It needs: attrs." in said
    install("board", consent, say=said.append, osv=osv.url)
    assert wanted(consent) == [noted]


def test_the_same_version_with_other_files_is_refused(osv, installer):
    consent = Ledger()
    install("board", consent, say=print, osv=osv.url)
    installer.fetches(**{"board.py": "x = 2"})
    with pytest.raises(UserError, match=r"is not the board 1\.2 of plugins\.lock"):
        install("board", consent, say=print, osv=osv.url)
    assert installer() == [*calls("board", "board==1.2"), *calls("board")]


@pytest.mark.parametrize("name", ["evil.pth", "sitecustomize.py", "usercustomize.py"])
def test_what_would_run_at_every_start_of_python_is_refused(osv, installer, name):
    installer.fetches(**{"board.py": "", name: "import os"})
    with pytest.raises(UserError, match=f"board 1.2 brings {name}"):
        install("board", Ledger(), say=print, osv=osv.url)
    assert installer() == calls("board")


def test_it_is_refused_for_that_also_where_the_system_has_one_of_its_own(osv, installer, tmp_path, monkeypatch):
    (tmp_path / "system").mkdir()
    (tmp_path / "system" / "usercustomize.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "system"), *sys.path])
    installer.fetches(**{"board.py": "", "usercustomize.py": "import os"})
    with pytest.raises(UserError, match=r"brings usercustomize\.py, which Python runs at every start"):
        install("board", Ledger(), say=print, osv=osv.url)


@pytest.mark.parametrize("name", ["click.py", "json.py", "hermes_core.py", "attrs.py"])
@pytest.mark.few(1)
def test_what_would_stand_in_the_place_of_others_is_refused(osv, installer, name):
    installer.fetches(**{"board.py": "", name: "print('mine now')"})
    with pytest.raises(UserError, match=f"board brings {name[:-3]}, which belongs to something else"):
        install("board", Ledger(), say=print, osv=osv.url)
    assert installer() == calls("board")


def test_another_distribution_than_was_asked_for_is_refused(tmp_path):
    with pytest.raises(UserError, match="What was fetched is not board"):
        contents_of(tmp_path, "board")


def test_removing_forgets_the_consent(installer):
    ledger = Ledger()
    remove(row("tool/board", "hermes-tool-board"), ledger, say=print)
    assert installer() == [f"pip uninstall --python {sys.executable} --no-config hermes-tool-board"]
    assert ledger.forgotten == ["hermes-tool-board"]


def test_a_file_of_the_user_is_not_removed(installer):
    with pytest.raises(UserError, match="file of yours") as caught:
        remove(row("tool/note", path="/home/x/note.py"), Ledger(), say=print)
    assert "/home/x/note.py" in caught.value.hint
    assert installer() == []


def test_sync_restores_what_is_gone_and_says_what_could_not_be(osv, installer):
    consent = Ledger(row("tool/here", "hermes-tool-here"))
    note(consent, Package("hermes-tool-here", "hermes-tool-here"))
    note(consent, Package("broken", "broken"))
    note(consent, Package("lost", "lost>=1", only_binary=False))
    with pytest.raises(UserError, match="could not install broken"):
        sync(consent, say=print, osv=osv.url)
    assert installer()[1:] == calls("lost>=1", "lost==1.2", wheels="")


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://example.org/board-1.0-py3-none-any.whl", "not encrypted"),
        ("HTTP://example.org/b.whl", "not encrypted"),
        ("git+http://example.org/b", "not encrypted"),
        ("https://pypi.org@evil.example/b.whl", "hides the real host"),
        ("https://0x7f.1/b.whl", "unusual spelling"),
        ("https://127.1/b.whl", "unusual spelling"),
        ("https://010.0.0.1/b.whl", "unusual spelling"),
        ("https://pypi.org\\evil.example/b.whl", "backslash"),
        ("https://pypi.org\u2024evil.example/b.whl", "not plain ASCII"),
        ("https:/evil.example/b.whl", "two slashes"),
        ("https://pypi.org%2fevil.example/b.whl", "no plain name"),
        ("https://:443/b.whl", "no plain name"),
    ],
)
def test_code_from_a_doubtful_address_is_refused(address, why):
    with pytest.raises(UserError, match=why):
        install(f"board @ {address}", Ledger(), say=print)


STRANGER = """#!{python}
import sys
open({log!r}, "a").write(" ".join([{name!r}, *sys.argv[1:]]) + "\\n")
if {name!r} == {broken!r}:
    raise ModuleNotFoundError("No module named 'pip._vendor.six'")
"""


@pytest.mark.parametrize(
    ("there", "broken", "said"),
    [
        (("uv",), "", "uv pip install --python PYTHON --no-config board"),
        (("pip",), "", "pip --python PYTHON install board"),
        (("pipx", "pip"), "", "pipx runpip PREFIX install board"),
        (("pip3",), "", "pip3 --python PYTHON install board"),
        (("pip", "pipx"), "pipx", "pip --python PYTHON install board"),
        (("pip",), "pip", ""),
        ((), "", ""),
    ],
)
def test_it_uses_what_is_there_where_python_has_no_pip(tmp_path, monkeypatch, capfd, there, broken, said):
    """Environments that uv and pipx make have none."""
    prefix, log, told = tmp_path / "hermes-core", tmp_path / "log", []
    prefix.mkdir()
    for name in there:
        (tmp_path / name).write_text(STRANGER.format(python=sys.executable, log=str(log), name=name, broken=broken))
        (tmp_path / name).chmod(0o755)
    if "pipx" in there:
        (prefix / "pipx_metadata.json").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    python = sys.executable
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(sys, "executable", str(prefix / "bin" / "python"))
    if not said:
        with pytest.raises(UserError, match="no uv, and no pip or pipx that can"):
            program.run_program("install", ["board"])
        assert capfd.readouterr() == ("", "")
        return
    program.run_program("install", ["board"], say=told.append)
    assert log.read_text().splitlines()[-1] == said.replace("PYTHON", sys.executable).replace("PREFIX", prefix.name)
    assert told == [f"Installing with {there[0].rstrip('3')} into {prefix}."]
    assert python != sys.executable


def test_what_an_older_or_a_newer_hermes_noted_is_read():
    ledger = Ledger()
    ledger.noted = {"old": {}, "odd": {"later": 1, "version": "2"}}
    assert wanted(ledger) == [Package("odd", "odd", version="2"), Package("old", "old")]
