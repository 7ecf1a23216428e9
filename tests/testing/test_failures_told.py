"""A test that hangs is ended and told with its stack, and a failure names its layer."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(180),
]  # a run of pytest with two processes, whatever else the machine does
SUITE = """
import asyncio
import signal
import threading

import pytest

from hermes_core.errors import LoadError

soon = pytest.mark.timeout(0.5)


@soon
def test_no_signal_gets_through():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    threading.Event().wait()


@soon
def test_a_loop():
    while True:
        pass


@soon
async def test_an_event_that_never_comes():
    await asyncio.Event().wait()


@soon
async def test_a_task_takes_the_blow():
    async def busy():
        while True:
            await asyncio.sleep(0)

    task = asyncio.create_task(busy())
    while not task.done():
        await asyncio.sleep(0)
    await asyncio.Event().wait()


@soon
def test_a_lock_nobody_gives_back():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


@pytest.fixture
def stuck():
    while True:
        pass


@soon
def test_a_set_up(stuck):
    pass


def test_a_plugin_is_blamed():
    raise LoadError("tool/dice", "it is not there")


def test_the_kernel_raises():
    from hermes_core.config.edit import refuse_locked
    try:
        refuse_locked({"model": "hermes"}, "model")
    except Exception as error:
        raise RuntimeError("from another") from error


def test_a_plugin_raises():
    from hermes_tool_todo.plan import summary
    summary(None)


def test_the_test_itself(hermes):
    assert 1 == 2


def test_nothing_is_wrong():
    pass
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a run of a suite with faults says, with the project's own settings and two processes."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "test_faults.py").write_text(SUITE)
    shutil.copy(ROOT / "conftest.py", folder)
    words = [
        "-n",
        "2",
        "-o",
        "faulthandler_timeout=4",
        "-p",
        "no:cacheprovider",
        "--confcutdir",
        str(folder),
        str(folder),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), *words],
        cwd=folder, capture_output=True, text=True, timeout=150, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("test", "line"),
    [
        ("test_a_loop", "while True:"),
        ("test_an_event_that_never_comes", "await asyncio.Event().wait()"),
        ("test_a_lock_nobody_gives_back", "lock.acquire()"),
        ("test_a_set_up", "while True:"),
        ("test_a_task_takes_the_blow", "in busy"),
    ],
)
def test_what_hangs_is_ended_with_its_stack(told: str, test: str, line: str) -> None:
    _, _, story = told.partition(f"{test} _")
    story, _, _ = story.partition("\n____")
    assert "Timeout (>0.5s) from pytest-timeout" in story
    assert line in story


def test_the_others_go_on(told: str) -> None:
    assert "1 passed" in told


@pytest.mark.parametrize(
    ("test", "layer"),
    [
        ("test_a_plugin_is_blamed", "plugin tool/dice: the kernel blames it: LoadError"),
        ("test_the_kernel_raises", "kernel config: UserError in refuse_locked, edit.py:"),
        ("test_a_plugin_raises", "plugin tool/todo: "),
        ("test_the_test_itself", "the test itself, of a whole kernel: "),
    ],
)
def test_a_failure_names_its_layer(told: str, test: str, layer: str) -> None:
    _, _, story = told.partition(f" {test} _")
    story, _, _ = story.partition("\n____")
    assert layer in story
    _, _, table = told.partition("failures by layer")
    assert layer.split(": ", maxsplit=1)[0] in table


def test_where_no_signal_gets_through_the_process_is_ended(told: str) -> None:
    assert "crashed while running 'test_faults.py::test_no_signal_gets_through'" in told
    assert "in test_no_signal_gets_through" in told


def test_every_test_has_a_limit() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    assert 0 < options["timeout"] < options["faulthandler_timeout"]
    assert options["faulthandler_exit_on_timeout"]
