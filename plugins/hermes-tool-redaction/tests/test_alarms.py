"""Ordinary text stays as it is: of ten thousand lines of code and manuals at most one is touched."""

import random
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics

from engine import redact

import hermes_core

LIBRARY, OURS = Path(sysconfig.get_path("stdlib")), Path(hermes_core.__file__).parent
PACKAGES = (
    "asyncio",
    "concurrent",
    "email",
    "http",
    "importlib",
    "json",
    "logging",
    "multiprocessing",
    "urllib",
    "xml",
)


def source(*folders: Path, deep: bool = True) -> Iterator[str]:
    for folder in folders:
        yield from (path.read_text("utf-8") for path in sorted(folder.glob("**/*.py" if deep else "*.py")))


SAMPLES = {
    "packages of Python's library": lambda: source(*(LIBRARY / name for name in PACKAGES)),
    "modules of Python's library": lambda: source(LIBRARY, deep=False),
    "the kernel": lambda: source(OURS),
    "the manual of Python": lambda: iter(topics.values()),
}


def test_of_ten_thousand_ordinary_lines_one_is_touched_at_most() -> None:
    lines, touched = 0, list[str]()
    for name, texts in SAMPLES.items():
        for text in texts():
            before, after = text.splitlines(), redact(text).splitlines()
            lines += len(before)
            touched += [f"{name}: {was.strip()[:120]}" for was, now in zip(before, after, strict=True) if was != now]
    assert lines > 150_000
    assert len(touched) <= lines / 10_000, touched


def test_what_names_a_session_or_a_question_is_no_secret() -> None:
    """Whatever digits chance makes it of, nobody is shown a mask in its place."""
    dice, lines = random.Random(22), []
    for number in range(400):
        some = dice.randbytes(8).hex()
        session, child, question = f"20261127_{number:06}_{some[:8]}", f"child_{some}", some[:12]
        lines += [f"New session {session}.", f"session={session}", f"child session {child}: done", f"session: {child}"]
        lines += [
            f"/approve {question} once",
            f"/answer {question} 2",
            f"[{child}] untitled",
            f'{{"session": "{child}"}}',
        ]
    touched = [line for line in lines if redact(line) != line]
    assert touched == []
