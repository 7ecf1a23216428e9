"""``hermes update`` in real environments, with wheels of this tree: forward, back by itself, back when asked."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

# A case takes a minute: CI plays one of each kind (``real and not long``), ``nox -s real`` all.
pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[3]
WANTED = ("hermes-platform-cli", "hermes-provider-offline", "hermes-tool-backup", "hermes-platform-gateway")
OLDER, NEWER = "1.0.0", "9.0.0"
BROKEN = "raise SystemExit('this version is broken')\n"


def folder_of(name: str) -> Path:
    return ROOT if name == "hermes-core" else ROOT / "plugins" / name


def project(name: str, root: Path = ROOT) -> dict:
    where = root if name == "hermes-core" else root / "plugins" / name
    return tomllib.loads((where / "pyproject.toml").read_text())["project"]


def closure() -> list[str]:
    """Our distributions that the wanted ones need."""
    found: dict[str, None] = {}
    left = ["hermes-core", *WANTED]
    while left:
        if (name := left.pop()) not in found:
            found[name] = None
            needs = [re.match(r"[a-z0-9-]+", one)[0] for one in project(name)["dependencies"]]
            left += [need for need in needs if need.startswith("hermes-")]
    return sorted(found)


def facts(name: str, version: str) -> dict[str, str]:
    """What a distribution says of itself, by the name of the file in its dist-info."""
    said = project(name)
    wanted = [*said["dependencies"]]
    for extra, names in said.get("optional-dependencies", {}).items():
        wanted += [f"{one} ; extra == '{extra}'" for one in names]
    free = (one.replace(",<2", "") if one.startswith("hermes-") else one for one in wanted)
    needs = "".join(f"Requires-Dist: {one}\n" for one in free)
    points = {**said.get("entry-points", {}), "console_scripts": said.get("scripts", {})}
    rows = "".join(
        f"[{group}]\n{''.join(f'{k} = {v}{chr(10)}' for k, v in one.items())}" for group, one in points.items()
    )
    return {
        "METADATA": f"Metadata-Version: 2.3\nName: {name}\nVersion: {version}\n{needs}",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": rows,
    }


def sources(name: str) -> dict[str, bytes]:
    """The files of a distribution, by their path in an environment."""
    root = ROOT if name == "hermes-core" else folder_of(name) / "src"
    package = root / name.replace("-", "_")
    found = (path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def wheels_of(target: Path, version: str, changes: dict[str, str]) -> Path:
    """Wheels of this tree as some version, with some files changed."""
    target.mkdir()
    for name in closure():
        stem = f"{name.replace('-', '_')}-{version}"
        files = sources(name) | {f"{stem}.dist-info/{one}": text.encode() for one, text in facts(name, version).items()}
        if init := files.get("hermes_core/__init__.py"):
            files["hermes_core/__init__.py"] = re.sub(
                rb'__version__ = "[^"]+', b'__version__ = "' + version.encode(), init
            )
        files |= {path: text.encode() for path, text in changes.items() if path in files}
        record = f"{stem}.dist-info/RECORD"
        files[record] = "".join(f"{path},,\n" for path in [*files, record]).encode()
        with zipfile.ZipFile(target / f"{stem}-py3-none-any.whl", "w") as wheel:
            for path, data in files.items():
                wheel.writestr(path, data)
    return target


@pytest.fixture
def wheels(tmp_path) -> Path:
    """Wheels of this tree, as the version that is there first."""
    return wheels_of(tmp_path / "wheels", OLDER, {})


def newer(wheels: Path, target: Path, changes: dict[str, str]) -> Path:
    return wheels_of(target, NEWER, changes)


class Place:
    """An environment with Hermes in it, and a home."""

    def __init__(self, folder: Path, by: str) -> None:
        self.prefix, self.home = folder / "env", folder / "home"
        path = os.environ["PATH"] if by == "uv" else "/usr/bin:/bin"
        self.environ = {"PATH": path, "HOME": str(folder), "HERMES_HOME": str(self.home), "HERMES_TRUST": "1"}
        (folder / "tmp").mkdir()
        self.environ |= {"UV_CACHE_DIR": str(folder / "cache"), "TMPDIR": str(folder / "tmp")}
        self.uv = {**os.environ, "HOME": str(folder), "UV_CACHE_DIR": str(folder / "cache")}
        maker = (
            ["uv", "venv", "-q", "--offline", "-p", sys.executable] if by == "uv" else [sys.executable, "-m", "venv"]
        )
        subprocess.run([*maker, str(self.prefix)], check=True, capture_output=True, env=self.uv)
        self.packages = next(self.prefix.glob("lib/python*/site-packages"))
        third = Path(sys.prefix) / "lib" / self.packages.parent.name / "site-packages"
        for path in third.iterdir():  # what others wrote is not fetched again
            ours = path.name.lower().startswith(("hermes", "__editable__", "_hermes", "_virtualenv", "pip"))
            if ours or path.name.endswith(".pth") or (self.packages / path.name).exists():
                continue
            if path.name.endswith(".dist-info"):
                shutil.copytree(path, self.packages / path.name)  # uv looks into folders, and not behind links
            else:
                (self.packages / path.name).symlink_to(path)
        self.home.mkdir()
        (self.home / "config.yaml").write_text("model: {provider: offline}\n")

    def install(self, wheels: Path) -> None:
        words = ["uv", "pip", "install", "-q", "--offline", "--no-index", "--find-links", str(wheels)]
        words += ["--python", str(self.prefix / "bin" / "python"), "hermes-core", *WANTED]
        subprocess.run(words, check=True, env=self.uv)

    def hermes(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self.prefix / "bin" / "hermes", *words],
            env=self.environ, capture_output=True, text=True, check=False, timeout=600, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def link(self, name: str, folder: Path) -> None:
        """Install a distribution from where its sources lie, as an installer does with -e."""
        about = self.packages / f"{name.replace('-', '_')}-{OLDER}.dist-info"
        about.mkdir()
        direct = {"url": folder.as_uri(), "dir_info": {"editable": True}}
        for file, text in (facts(name, OLDER) | {"direct_url.json": json.dumps(direct), "RECORD": ""}).items():
            (about / file).write_text(text)
        (self.packages / f"{name}.pth").write_text(f"{folder if name == 'hermes-core' else folder / 'src'}\n")
        if name == "hermes-core":
            script = self.prefix / "bin" / "hermes"
            code = "import sys\nfrom hermes_core.__main__ import main\nsys.exit(main())\n"
            script.write_text(f"#!{self.prefix / 'bin' / 'python'}\n{code}")
            script.chmod(0o755)

    @property
    def version(self) -> str:
        return self.hermes("--version").stdout.strip()

    def tree(self) -> set[str]:
        found = (path.relative_to(self.prefix) for path in self.prefix.rglob("*") if "__pycache__" not in path.parts)
        return {str(path) for path in found if not str(path).startswith(".hermes-update")}


@pytest.fixture(params=["uv", "pip"])
def place(request, tmp_path, wheels) -> Place:
    if request.param == "uv" and not shutil.which("uv"):
        pytest.fail("uv is not there")
    made = Place(tmp_path, request.param)
    made.install(wheels)
    assert made.hermes("-z", "remember the teapot").returncode == 0
    return made


def test_the_newest_comes_with_a_copy_and_a_way_back(place, wheels, tmp_path):
    old, was = place.version, place.tree()
    new = newer(wheels, tmp_path / "new", {})
    told = place.hermes("update", "--check", "--json", "--from", str(new))
    assert told.returncode == 0, told.stderr
    rows = {row["name"]: row["new"] for row in map(json.loads, told.stdout.splitlines())}
    assert rows["hermes-core"] == NEWER
    assert place.version == old
    assert "Decide it yourself" in place.hermes("update", "--from", str(new)).stderr  # nobody is here to ask
    done = place.hermes("update", "--yes", "--from", str(new))
    assert done.returncode == 0, done.stderr
    assert place.version == f"hermes {NEWER}"
    assert "before-update" in done.stderr
    assert place.hermes("sessions", "search", "teapot", "--json").stdout
    assert "up to date" in place.hermes("update", "--from", str(new)).stderr
    assert place.hermes("update", "--back", "--yes").returncode == 0
    assert place.version == old
    assert place.tree() == was
    assert place.hermes("-z", "and now?").returncode == 0


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "changes",
    [
        {"hermes_core/__main__.py": BROKEN},
        {"hermes_provider_offline/__init__.py": BROKEN},
        {"hermes_core/store/__init__.py": BROKEN},
    ],
    ids=["start", "answer", "store"],
)
def test_what_does_not_answer_goes_back_by_itself(place, wheels, tmp_path, changes):
    old, was = place.version, place.tree()
    done = place.hermes("update", "--yes", "--from", str(newer(wheels, tmp_path / "new", changes)))
    assert done.returncode == 1, done.stderr
    assert "no longer answers" in done.stderr
    assert place.version == old
    assert place.tree() == was
    assert place.hermes("sessions", "search", "teapot", "--json").stdout
    assert place.hermes("-z", "and now?").returncode == 0


@pytest.mark.few(1)
@pytest.mark.parametrize("when", ["installing", "looking"])
def test_what_cannot_be_installed_changes_nothing(place, wheels, tmp_path, when):
    old, was = place.version, place.tree()
    new = newer(wheels, tmp_path / "new", {})
    (wheel,) = new.glob("hermes_core-*")
    data = wheel.read_bytes()
    at = data.index(b"def run_loop")
    wheel.write_bytes(data[:2000] if when == "looking" else data[:at] + b"DEF" + data[at + 3 :])
    done = place.hermes("update", "--yes", "--from", str(new))
    assert done.returncode in (1, 2), done.stderr
    assert when == "looking" or "could not be installed" in done.stderr
    assert place.version == old
    assert place.tree() == was


@pytest.mark.few(1)
def test_a_cut_off_update_is_undone_by_the_words_that_it_said(place, wheels, tmp_path):
    old, was = place.version, place.tree()
    hangs = "import os, time\nopen(os.environ['HERMES_HOME'] + '/asked', 'w').close()\ntime.sleep(600)\n"
    new = newer(wheels, tmp_path / "new", {"hermes_core/__main__.py": hangs})
    words = [place.prefix / "bin" / "hermes", "update", "--yes", "--from", str(new)]
    with subprocess.Popen(
        words, env=place.environ, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        said = next(line for line in process.stderr if "If this is cut off" in line)
        while not (place.home / "asked").exists() and process.poll() is None:
            pass
        os.killpg(process.pid, 9)
    command = said.partition(": ")[2].split()
    assert subprocess.run(command, env=place.environ, capture_output=True, check=False).returncode == 0
    assert place.version == old
    assert place.tree() == was


QUIET = """# /// hermes
# api = 1
# name = "quiet"
# kind = "platform"
# summary = "A service on which nobody speaks."
# [contributes]
# platforms = ["quiet"]
# ///
import asyncio
from hermes_core import Platform, hookimpl

class Quiet(Platform):
    name = "quiet"

    async def receive(self):
        await asyncio.Event().wait()
        yield

    async def send(self, chat, message, key):
        pass

@hookimpl
def register_platforms():
    return [Quiet()]
"""


@pytest.mark.few(1)
def test_a_gateway_is_started_again_and_again_when_it_went_back(place, wheels, tmp_path):
    (place.home / "plugins").mkdir()
    (place.home / "plugins" / "quiet.py").write_text(QUIET)
    enabled = place.hermes("plugins", "enable", "quiet", "--yes")
    assert enabled.returncode == 0, enabled.stderr
    place.hermes("config", "set", "platforms.quiet.enabled", "true")
    started = place.hermes("gateway", "start")
    assert started.returncode == 0, started.stderr
    try:
        before = json.loads(place.hermes("gateway", "status", "--json").stdout)["processes"]
        done = place.hermes("update", "--yes", "--from", str(newer(wheels, tmp_path / "new", {})))
        assert done.returncode == 0, done.stderr
        after = json.loads(place.hermes("gateway", "status", "--json").stdout)["processes"]
        assert after
        assert after != before
        broken = {"hermes_platform_gateway/cli/serving.py": BROKEN}
        assert place.hermes("update", "--back", "--yes").returncode == 0
        done = place.hermes("update", "--yes", "--from", str(newer(wheels, tmp_path / "bad", broken)))
        assert done.returncode == 1, done.stderr
        assert "gateway" in done.stderr
        assert json.loads(place.hermes("gateway", "status", "--json").stdout)["processes"]
    finally:
        place.hermes("gateway", "stop")


@pytest.mark.long
def test_a_service_of_systemd_is_stopped_and_started_by_it(place, wheels, tmp_path):
    """Also where the new version does not start: the old one runs again, as a service."""
    script = tmp_path / "tools" / "systemctl"
    script.parent.mkdir()
    shutil.copy(Path(__file__).with_name("systemctl.py"), script)
    script.chmod(0o755)
    place.environ["PATH"] = f"{script.parent}:{place.environ['PATH']}"
    told = Path(place.environ["HOME"], "told")
    (place.home / "plugins").mkdir()
    (place.home / "plugins" / "quiet.py").write_text(QUIET)
    assert place.hermes("plugins", "enable", "quiet", "--yes").returncode == 0
    place.hermes("config", "set", "platforms.quiet.enabled", "true")
    installed = place.hermes("gateway", "install")
    assert installed.returncode == 0, installed.stderr

    def runs() -> list[int]:
        return json.loads(place.hermes("gateway", "status", "--json").stdout)["processes"]

    try:
        before = runs()
        assert before
        told.write_text("")
        done = place.hermes("update", "--yes", "--from", str(newer(wheels, tmp_path / "new", {})))
        assert done.returncode == 0, done.stderr
        assert [line for line in told.read_text().splitlines() if "is-active" not in line] == [
            "--user stop hermes-gateway",
            "--user start hermes-gateway",
        ]
        assert runs()
        assert runs() != before
        assert place.hermes("update", "--back", "--yes").returncode == 0
        broken = {"hermes_platform_gateway/cli/serving.py": BROKEN}
        done = place.hermes("update", "--yes", "--from", str(newer(wheels, tmp_path / "bad", broken)))
        assert done.returncode == 1, done.stderr
        assert runs(), Path(place.environ["HOME"], "hermes-gateway.journal").read_text()
        is_active = ["--user", "is-active", "--quiet", "hermes-gateway"]
        assert subprocess.run([script, *is_active], env=place.environ, check=False).returncode == 0
    finally:
        subprocess.run([script, "--user", "stop", "hermes-gateway"], env=place.environ, check=False)


def test_a_clone_follows_its_branch_and_goes_back(tmp_path):
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]

    def run(*words: str, where: Path) -> None:
        subprocess.run([*git, *words], cwd=where, check=True, capture_output=True)

    place, origin, clone = Place(tmp_path, "uv"), tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    for name in ("hermes_core", "pyproject.toml", "README.md", "LICENSE"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, origin / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, origin / name)
    for name in closure():
        if name != "hermes-core":
            ignore = shutil.ignore_patterns("__pycache__", "tests")
            shutil.copytree(ROOT / "plugins" / name, origin / "plugins" / name, ignore=ignore)
    (origin / ".gitignore").write_text("__pycache__\n")
    run("init", "-q", where=origin)
    run("add", "-A", where=origin)
    run("commit", "-qm", "Begin", where=origin)
    run("clone", "-q", str(origin), str(clone), where=tmp_path)
    folders = [clone if name == "hermes-core" else clone / "plugins" / name for name in closure()]
    for name, folder in zip(closure(), folders, strict=True):
        place.link(name, folder)
    old = place.version
    assert "up to date" in place.hermes("update", "--check").stderr
    init = origin / "hermes_core" / "__init__.py"
    init.write_text(re.sub(r'__version__ = "[\d.]+"', f'__version__ = "{NEWER}"', init.read_text()))
    run("commit", "-qam", "The next one", where=origin)
    assert "The next one" in place.hermes("update", "--check").stdout
    assert place.version == old
    done = place.hermes("update", "--yes")
    assert done.returncode == 0, done.stderr
    assert place.version == f"hermes {NEWER}"
    (origin / "hermes_core" / "__main__.py").write_text(BROKEN)
    run("commit", "-qam", "A mistake", where=origin)
    done = place.hermes("update", "--yes")
    assert done.returncode == 1, done.stderr
    assert place.version == f"hermes {NEWER}"
    (clone / "README.md").write_text("mine")
    assert "changes of yours" in place.hermes("update", "--check").stderr
