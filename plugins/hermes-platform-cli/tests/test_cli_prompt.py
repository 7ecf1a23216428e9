"""The input line, typed at through a pipe."""

import asyncio
import json
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from hermes_core.types import Choice, Session, SlashCommand
from hermes_platform_cli.config import Config
from hermes_platform_cli.prompt import Prompt, Withdrawn

Ask = Callable[..., Awaitable[str]]
PASTE = "\x1b[200~{}\x1b[201~"


async def until(true: Callable[[], object]) -> None:
    """Let the loop, or another program, go on until something is so."""
    while not true():
        await asyncio.sleep(0.001)


async def _nothing(session: Session, rest: str) -> str:
    return ""


COMMANDS = [SlashCommand(name=n, summary=f"About {n}.", run=_nothing) for n in ("help", "history", "model")]


@pytest.fixture
async def keys() -> AsyncIterator[PipeInput]:
    with create_pipe_input() as pipe:
        yield pipe


def prompt(
    keys: PipeInput, history: Path | None = None, stop: Callable[[], Awaitable[bool]] | None = None, **settings: object
) -> Prompt:
    config = Config(**settings)  # type: ignore[arg-type]
    return Prompt(
        config,
        history,
        commands=lambda: COMMANDS,
        status=lambda columns: "",
        trouble=_trouble,
        stop=stop,
        source=keys,
        sink=DummyOutput(),
    )


def _trouble(text: str) -> None:
    raise AssertionError(text)


async def typed(keys: PipeInput, text: str, asking: Prompt | None = None) -> str:
    keys.send_text(text)
    return await (asking or prompt(keys)).ask()


async def test_enter_sends(keys: PipeInput) -> None:
    assert await typed(keys, "hello\r") == "hello"


@pytest.mark.parametrize("newline", ["\x1b\r", "\n"])
async def test_alt_enter_and_ctrl_j_begin_a_new_line(keys: PipeInput, newline: str) -> None:
    assert await typed(keys, f"one{newline}two\r") == "one\ntwo"


async def test_an_empty_line_is_not_sent(keys: PipeInput) -> None:
    assert await typed(keys, "\r  \rhi\r") == "hi"


async def test_ctrl_c_clears_the_line(keys: PipeInput) -> None:
    assert await typed(keys, "wrong\x03right\r") == "right"


async def test_ctrl_c_on_an_empty_line_leaves_the_second_time(keys: PipeInput) -> None:
    with pytest.raises(EOFError):
        await typed(keys, "\x03\x03")


@pytest.mark.parametrize("speaks", [True, False])
async def test_ctrl_c_that_silenced_something_is_no_first_step_to_leaving(keys: PipeInput, speaks: bool) -> None:
    asked = asyncio.Event()

    async def stop() -> bool:
        asked.set()
        return speaks

    asking = asyncio.ensure_future(typed(keys, "\x03", prompt(keys, stop=stop)))
    await asyncio.wait_for(asked.wait(), 10)
    await asyncio.sleep(0)
    keys.send_text("\x03on\r")
    if speaks:
        assert await asking == "on"
    else:
        with pytest.raises(EOFError):
            await asking


async def test_ctrl_d_leaves(keys: PipeInput) -> None:
    with pytest.raises(EOFError):
        await typed(keys, "\x04")


async def test_ctrl_d_in_a_line_only_deletes(keys: PipeInput) -> None:
    assert await typed(keys, "ab\x01\x04\r") == "b"


async def test_tab_completes_a_command(keys: PipeInput) -> None:
    assert await typed(keys, "/mo\t\r") == "/model"


async def test_tab_asks_what_may_follow_a_command(keys: PipeInput) -> None:
    asked: list[str] = []

    async def complete(line: str) -> list[Choice]:
        asked.append(line)
        return [Choice("high\x1b[2J", replaces=1)]

    asking = Prompt(
        Config(), None, commands=lambda: COMMANDS, complete=complete, status=lambda columns: "", trouble=_trouble,
        source=keys, sink=DummyOutput(),
    )  # fmt: skip
    task = asyncio.create_task(typed(keys, "/effort h\t", asking))
    async with asyncio.timeout(5):
        while asking.text() != "/effort high":
            await asyncio.sleep(0)
    keys.send_text("\r")
    assert await task == "/effort high"
    assert asked == ["/effort h"], "only when it is asked for"


async def test_what_is_no_command_is_not_completed(keys: PipeInput) -> None:
    assert await typed(keys, "mo\t\r") == "mo"


async def test_history_comes_back_next_time(keys: PipeInput, tmp_path: Path) -> None:
    file = tmp_path / "data" / "history"
    first = prompt(keys, file)
    assert await typed(keys, "first\r", first) == "first"
    assert await typed(keys, "한국어\n두 줄\r", first) == "한국어\n두 줄"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    second = prompt(keys, file)
    task = asyncio.ensure_future(second.ask())
    await until(lambda: second.open)
    await until(lambda: len(second.entries()) == 2)
    keys.send_text("\x10\x10\x10\r")  # up through both lines of the newest, to the one before
    assert await task == "first"


async def test_a_line_that_begins_with_a_space_and_a_repeated_one_are_not_kept(keys: PipeInput, tmp_path: Path) -> None:
    file = tmp_path / "history"
    asking = prompt(keys, file)
    for text in (" secret", "same", "same", "other"):
        await typed(keys, f"{text}\r", asking)
    assert [json.loads(line) for line in file.read_text().splitlines()] == ["same", "other"]


async def test_broken_lines_of_the_history_are_passed_over(keys: PipeInput, tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.write_bytes(b'"good"\n\xff\xfe{not json\n[1]\n')
    asking = prompt(keys, file)
    assert await typed(keys, "x\r", asking) == "x"
    assert file.read_text(errors="replace").endswith('"x"\n')


async def test_a_history_that_cannot_be_kept_costs_only_the_history(keys: PipeInput, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told: list[str] = []
    asking = Prompt(
        Config(),
        tmp_path / "file" / "history",
        commands=lambda: (),
        status=lambda columns: "",
        trouble=told.append,
        source=keys,
        sink=DummyOutput(),
    )
    assert await typed(keys, "one\r", asking) == "one"
    assert await typed(keys, "two\r", asking) == "two"
    assert len(told) == 1
    assert "not kept" in told[0]


async def test_a_big_paste_is_collapsed_and_sent_whole(keys: PipeInput, tmp_path: Path) -> None:
    file = tmp_path / "history"
    big = "\n".join(f"line {n}" for n in range(6))
    asking = prompt(keys, file)
    assert await typed(keys, "see " + PASTE.format(big) + " ok\r", asking) == f"see {big} ok"
    assert json.loads(file.read_text()) == f"see {big} ok"


async def test_a_megabyte_can_be_pasted(keys: PipeInput) -> None:
    big = "x" * 1_000_000
    asking = asyncio.ensure_future(prompt(keys).ask())
    await asyncio.to_thread(keys.send_text, PASTE.format(big) + "\r")
    assert await asking == big


async def test_a_small_paste_stays_as_it_is_and_sends_nothing(keys: PipeInput) -> None:
    assert await typed(keys, PASTE.format("a\r\nb\rc") + "\r") == "a\nb\nc"


async def test_backspace_takes_a_collapsed_paste_whole(keys: PipeInput) -> None:
    assert await typed(keys, "a" + PASTE.format("\n" * 9) + "\x7fb\r") == "ab"


async def test_a_limit_of_nothing_never_collapses(keys: PipeInput) -> None:
    big = "\n".join("abcdefgh")
    asking = prompt(keys, paste_lines=0, paste_characters=0)
    assert await typed(keys, PASTE.format(big) + "\r", asking) == big


async def test_a_mark_that_was_typed_stands_for_itself(keys: PipeInput) -> None:
    assert await typed(keys, "[paste #7: 9 lines]\r") == "[paste #7: 9 lines]"


async def test_the_editor_gets_the_text_and_gives_it_back(
    keys: PipeInput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf " and more" >> "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    asking = prompt(keys)
    task = asyncio.ensure_future(asking.ask())
    keys.send_text("text\x07")
    await until(lambda: "more" in asking.text())
    keys.send_text("\r")
    assert (await task).replace("\n", "") == "text and more"


async def test_a_withdrawn_prompt_gives_back_what_was_typed(keys: PipeInput) -> None:
    asking = prompt(keys)
    task = asyncio.ensure_future(asking.ask())
    keys.send_text("half")
    await until(lambda: asking.text() == "half")
    asking.withdraw()
    with pytest.raises(Withdrawn) as gone:
        await task
    assert gone.value.text == "half"
    keys.send_text("!\r")
    assert await asking.ask("half") == "half!"


async def test_a_history_that_grew_too_long_keeps_its_newest_part(keys: PipeInput, tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.write_text("".join(json.dumps(f"{n} " + "x" * 1000) + "\n" for n in range(2200)))
    asking = prompt(keys, file)
    await typed(keys, "newest\r", asking)
    kept = [json.loads(line) for line in file.read_text().splitlines()]
    assert file.stat().st_size < 1_100_000
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert kept[-1] == "newest"
    assert kept[-2].startswith("2199 ")
    assert [p.name for p in tmp_path.iterdir()] == ["history"]
