"""A run of tests that leaves something fails and says what: tiny suites, each run as a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
LEAKS = """
import os, pathlib, subprocess, sys, tempfile

SLEEP = "import time; time.sleep(600)"


def start(code, **how):
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.Popen([sys.executable, "-c", code, *how.pop("words", ())], **quiet, **how)


def test_a_child():
    start(f"{SLEEP}  # child")


def test_a_daemon():  # its parent is gone, so nobody knows whose it is but by what it inherited
    again = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {f'{SLEEP}  # daemon'!r}])"
    start(again, start_new_session=True)


def test_a_daemon_that_inherited_nothing(tmp_path):
    again = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {f'{SLEEP}  # bare'!r}], env={{}})"
    start(again, start_new_session=True, cwd=tmp_path)


def test_a_temporary_file():
    tempfile.mkstemp(prefix="forgotten-")


def test_the_home():
    (pathlib.Path.home() / ".newrc").write_text("x")


def test_the_home_of_a_person():
    (pathlib.Path(os.environ["PERSON"]) / ".hermes").mkdir()


def test_outside():
    (pathlib.Path(os.environ["PERSON"]).parent / "temporary" / "hermes-canary").touch()


def test_the_work_tree():
    pathlib.Path(__file__).with_name("made.txt").touch()


def test_what_is_fine(tmp_path, monkeypatch):
    (tmp_path / "x").touch()
    assert tempfile.gettempdir() in str(tmp_path)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", "pass"], cwd=folder)
"""
FINE = """
def test_fine(tmp_path):
    (tmp_path / "x").touch()
"""


class Suite:
    """A suite of tests beside a home and a temporary folder, which stand for those of a person."""

    def __init__(self, folder: Path) -> None:
        self.tests, self.person, self.temporary = folder / "tests", folder / "person", folder / "temporary"
        for made in (self.tests, self.person, self.temporary):
            made.mkdir()
        (self.tests / "pytest.ini").touch()
        (self.tests / ".gitignore").write_text("__pycache__/\n")
        (self.tests / "conftest.py").write_text("import left_behind\n\nleft_behind.PATIENCE = 0.2\n")
        subprocess.run(["git", "init", "-q", self.tests], check=True)

    def run(self, text: str, *options: str, **environ: str) -> subprocess.CompletedProcess[str]:
        (self.tests / "test_tiny.py").write_text(text)
        plain = {k: v for k, v in os.environ.items() if k not in ("CI", "PYTEST_ADDOPTS")}
        plain["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        own = {"HOME": self.person, "PERSON": self.person, "TMPDIR": self.temporary, "PYTHONPATH": HERE}
        command = (sys.executable, "-m", "pytest", "-q", "-p", "left_behind", "-p", "no:cacheprovider", *options)
        env = {**plain, **{name: str(path) for name, path in own.items()}, **environ}
        return subprocess.run(command, cwd=self.tests, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return Suite(tmp_path)


@pytest.mark.parametrize("options", [(), ("-p", "xdist.plugin", "-n", "2")], ids=["one process", "several"])
def test_whatever_is_left_is_told_and_fails_the_run(suite: Suite, options: tuple[str, ...]) -> None:
    done = suite.run(LEAKS, *options, CI="true")
    assert "9 passed" in done.stdout, "the tests themselves are fine"
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    told = done.stdout.partition(" left behind by this run ")[2].splitlines()[1:9]
    wanted = {
        "# child": "still runs; started by test_tiny.py::test_a_child",
        "# daemon": "still runs; started by test_tiny.py::test_a_daemon",
        "# bare": "still runs; of the test with the folder test_a_daemon_that_inherited_n0",
        "/tmp/forgotten-": "is still there; first seen after test_tiny.py::test_a_temporary_file",
        "/home/.newrc": "is still there; first seen after test_tiny.py::test_the_home",
        f"{suite.person}/.hermes": "is new",
        f"{suite.temporary}/hermes-canary": "is new",
        "made.txt": "of the work tree was made or changed",
    }
    missed = [(what, said) for what, said in wanted.items() if not any(what in t and t.endswith(said) for t in told)]
    assert missed == [], told
    numbers = [t.partition("(process ")[2].partition(")")[0] for t in told if "(process " in t]
    assert len(numbers) == 3
    assert not [number for number in numbers if _lives(number)], "the next run would meet them"


def test_a_run_that_leaves_nothing_passes_and_its_own_folder_goes(suite: Suite) -> None:
    (suite.temporary / "hermes-of-somebody").touch()
    (suite.tests / "edited.txt").touch()
    done = suite.run(FINE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "left behind" not in done.stdout
    assert [path.name for path in suite.temporary.iterdir()] == ["hermes-of-somebody"]


def test_what_a_test_wrote_stays_when_it_fails(suite: Suite) -> None:
    assert suite.run(FINE + "    assert False\n").returncode == pytest.ExitCode.TESTS_FAILED
    assert [path.read_text() for path in suite.temporary.glob("hermes-run-*/main/tmp/pytest-0/test_fine0/x")] == [""]


def test_programs_of_others_are_let_alone(suite: Suite) -> None:
    """Somebody edits a file and looks into the run's folder while it goes on; the shell was there before."""
    shell = subprocess.Popen(["sh"], stdin=subprocess.PIPE, start_new_session=True, text=True)
    assert shell.stdin
    with shell:
        looks = FINE + (
            "    import os, pathlib, time\n"
            "    pathlib.Path('edited.txt').touch()\n"
            "    (pathlib.Path(os.environ['PERSON']).parent / 'temporary' / 'hermes-of-others').touch()\n"
            "    fifo = pathlib.Path(os.environ['PERSON']) / 'fifo'\n"
            "    fifo.write_text(f'cd {tmp_path}; sleep 600 & echo $! >{tmp_path}/pid\\n')\n"
            "    while not (tmp_path / 'pid').exists() or not (tmp_path / 'pid').read_text(): time.sleep(0.01)\n"
            "    fifo.with_name('pid').write_text((tmp_path / 'pid').read_text())\n"
        )
        os.mkfifo(suite.person / "fifo")
        shell.stdin.write(f'read -r line <{suite.person}/fifo; eval "$line"; wait\n')
        shell.stdin.flush()
        done = suite.run(looks)
        sleeper = (suite.person / "pid").read_text().strip()
        assert _lives(sleeper), done.stdout
        os.kill(int(sleeper), 9)
        shell.stdin.close()
    assert (done.returncode, "left behind" in done.stdout) == (0, False), done.stdout
    told = done.stdout.partition(" changed meanwhile ")[2]
    assert "of the work tree edited.txt" in told, "it is told, and nobody is blamed"
    assert f"{suite.temporary}/hermes-of-others is new" in told


def _lives(number: str) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False
